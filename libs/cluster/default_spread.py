"""Default spread constraints: what pods that say nothing of their own spread are spread by.

Apart because which pods count is deduced from the Services and controllers that select a pod, which
come and go on their own.

Source: kube-scheduler's PodTopologySpread, `defaultConstraints`; `docs/sources.md` D9.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from libs.cluster.objects import Key, Objects
from libs.domain.errors import InvalidRequest
from libs.domain.pod import Owner
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.selector import LabelSelector
from libs.domain.topology import TopologySpread
from libs.kube.convert.selectors import label_selector
from libs.kube.objects import metadata
from libs.kube.objects.workload import (
    Deployment,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

NO_DEFAULTS: tuple[TopologySpread, ...] = ()


class DefaultSpread:
    """The default constraints of one snapshot, by pod."""

    def __init__(self, constraints: tuple[TopologySpread, ...], objects: Objects) -> None:
        self.configured = bool(constraints)
        """Whether there are any."""
        self._constraints = constraints
        self._objects = objects
        self._known: dict[object, tuple[TopologySpread, ...]] = {}
        self._services: dict[str, list[Mapping[str, str]]] = defaultdict(list)
        if constraints:
            services = objects.of(Service)
            for namespace, name in sorted(services):
                self._services[namespace].append(services[namespace, name].spec.selector or {})

    def of(
        self, namespace: str, labels: Mapping[str, str], owner: Owner | None
    ) -> tuple[TopologySpread, ...]:
        """Return the constraints of a pod that has none; empty where nothing selects it."""
        key = namespace, tuple(sorted(labels.items())), owner
        if key not in self._known:
            selector = self._selector(namespace, labels, owner)
            self._known[key] = (
                tuple(replace(one, selector=selector) for one in self._constraints)
                if len(selector.requirements)
                else NO_DEFAULTS
            )
        return self._known[key]

    def _selector(
        self, namespace: str, labels: Mapping[str, str], owner: Owner | None
    ) -> LabelSelector:
        """Return what selects the pods that count: empty where nothing can be deduced."""
        merged: dict[str, str] = {}
        for selector in self._services[namespace]:
            if selector.items() <= labels.items():
                merged.update(selector)
        expressions: metadata.LabelSelector | None = None
        if owner is not None:
            key = namespace, owner.name
            if (owner.api_version, owner.kind) == ("v1", "ReplicationController"):
                controller = self._objects.of(ReplicationController).get(key)
                merged.update(controller.spec.selector if controller is not None else {})
            elif owner.api_version == "apps/v1":
                expressions = self._expressions(owner.kind, key)
        return _both(metadata.LabelSelector(match_labels=merged), expressions)

    def _expressions(self, kind: str, key: Key) -> metadata.LabelSelector | None:
        found: ReplicaSet | StatefulSet | Deployment | None = None
        match kind:
            case "ReplicaSet":
                found = self._objects.of(ReplicaSet).get(key)
            case "StatefulSet":
                found = self._objects.of(StatefulSet).get(key)
            case "Deployment":
                # It owns the pods that files leave out, in the place of its ReplicaSet.
                found = self._objects.of(Deployment).get(key)
        return None if found is None else found.spec.selector


def _both(left: metadata.LabelSelector, right: metadata.LabelSelector | None) -> LabelSelector:
    """Return the selector of what both select; one that is illegible is left out."""
    requirements: list[Requirement] = []
    for one in (left, right):
        try:
            selector = label_selector(one, "")
        except InvalidRequest:
            continue
        if selector is not None:
            requirements.extend(selector.requirements)
    return LabelSelector(requirements=Requirements(requirements))
