"""The metrics API: what pods and nodes use, computed when asked, as metrics-server serves it.

Apart from the store because nothing of it is stored: there is nothing to watch or write.

Source: Kubernetes documentation, "Resource metrics pipeline"; metrics.k8s.io/v1beta1.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol

from services.simulator.core.api import errors, reading
from services.simulator.core.api.frozen import freeze
from services.simulator.core.api.reading import ListOptions, Page
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
_VERBS = ("get", "list")
_NODES = Resource(
    group=GROUP,
    version=VERSION,
    kind="NodeMetrics",
    plural="nodes",
    singular="",
    namespaced=False,
    verbs=_VERBS,
)
_PODS = Resource(
    group=GROUP,
    version=VERSION,
    kind="PodMetrics",
    plural="pods",
    singular="",
    namespaced=True,
    verbs=_VERBS,
)
_NODE_WINDOW, _POD_WINDOW = "20s", "15s"


class Amounts(Protocol):
    """Cores and bytes."""

    @property
    def cpu(self) -> float:
        """Cores."""

    @property
    def memory(self) -> float:
        """Bytes."""


class Measures(Protocol):
    """What tells how much is used."""

    def pod(self, pod: Object, now: datetime) -> Mapping[str, Amounts] | None:
        """Return the usage of a pod's containers; None of a pod that does not run."""

    def node(self, name: str, now: datetime) -> Amounts:
        """Return the usage of a node."""


class MetricsApi:
    """Serves the group from the moment that it is made."""

    def __init__(self, store: Store, measures: Measures) -> None:
        self._store = store
        self._measures = measures
        store.resources.add(_NODES)
        store.resources.add(_PODS)

    def read(self, resource: Resource, name: str, namespace: str) -> Version:
        """Return the metrics of a node or pod; raises the 404."""
        subject = self._store.find(resource.plural, name, namespace)
        metrics = None if subject is None else self._shown(resource, subject)
        if metrics is None:
            told = name if not namespace else f"{namespace}/{name}"
            raise errors.not_found(resource, told)
        return metrics

    def page(self, resource: Resource, namespace: str | None, options: ListOptions) -> Page:
        """Return the metrics of all nodes or pods; raises the 400 of a selector."""
        selects = reading.selection(resource, options)
        found = (
            self._shown(resource, subject)
            for subject in self._store.list(resource.plural, namespace)
        )
        items = [one for one in found if one and (selects is None or selects(one.object))]
        return Page(items=items, revision=self._store.storage.revision)

    def _shown(self, resource: Resource, subject: Object) -> Version | None:
        now = self._store.sources.now()
        make = _MAKERS[resource.kind]
        body = make(self._measures, subject, now)
        if body is None:
            return None
        meta = subject["metadata"]
        kept = {key: meta[key] for key in ("name", "namespace", "labels") if key in meta}
        stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        obj = {
            "kind": resource.kind,
            "apiVersion": resource.group_version,
            "metadata": {**kept, "creationTimestamp": stamp},
            "timestamp": stamp,
            **body,
        }
        return Version(meta["name"], freeze(obj), self._store.storage.revision)


def _node(measures: Measures, node: Object, now: datetime) -> dict[str, Any] | None:
    conditions = node.get("status", {}).get("conditions") or ()
    if not any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
        return None
    return {"window": _NODE_WINDOW, "usage": _usage(measures.node(node["metadata"]["name"], now))}


def _pod(measures: Measures, pod: Object, now: datetime) -> dict[str, Any] | None:
    usages = measures.pod(pod, now)
    if not usages:
        return None
    containers = [{"name": name, "usage": _usage(usage)} for name, usage in usages.items()]
    return {"window": _POD_WINDOW, "containers": containers}


_MAKERS: dict[str, Callable[[Measures, Object, datetime], dict[str, Any] | None]] = {
    "NodeMetrics": _node,
    "PodMetrics": _pod,
}


def _usage(amounts: Amounts) -> dict[str, str]:
    return {
        "cpu": f"{round(amounts.cpu * 10**9)}n" if amounts.cpu else "0",
        "memory": f"{round(amounts.memory / 1024)}Ki",
    }
