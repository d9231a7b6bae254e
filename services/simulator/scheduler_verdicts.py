"""Replay recorded verdicts of a real kube-scheduler on the simulator, and say what differs.

The format is that of `kube_scheduler_verdicts.jsonl`: a small cluster, a pending pod, and what
became of it. Everything is created through the simulated API and the pod is left to the simulated
scheduler. Lines in a row that have the same cluster share it, while nothing of it has changed.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.gates import COMPARING_TOLERATIONS
from services.simulator.core.api.server import ApiServer
from services.simulator.core.objects import condition_of
from services.simulator.core.scheduler.scheduler import Scheduler

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
RESOURCES = {
    "nodes": "nodes",
    "namespaces": "namespaces",
    "storageClasses": "storageclasses.storage.k8s.io",
    "pvs": "persistentvolumes",
    "csiNodes": "csinodes.storage.k8s.io",
    "csiDrivers": "csidrivers.storage.k8s.io",
    "csiStorageCapacities": "csistoragecapacities.storage.k8s.io",
    "runtimeClasses": "runtimeclasses.node.k8s.io",
    "deviceClasses": "deviceclasses.resource.k8s.io",
    "resourceSlices": "resourceslices.resource.k8s.io",
    "resourceClaims": "resourceclaims.resource.k8s.io",
    "pvcs": "persistentvolumeclaims",
    "pods": "pods",
}
"""Resources by the name of their list, in the order in which they are created."""

_LEFT_OUT: Mapping[str, dict[str, Any]] = {"runtimeclasses.node.k8s.io": {"handler": "any"}}
"""What objects of recordings may lack because no scheduler reads it, though the API asks for it."""

_AT_ONCE = DeleteOptions(grace_seconds=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line replayed."""

    id: int
    differences: tuple[str, ...]
    """What differs, for people; empty if nothing does."""
    kinds: tuple[str, ...]


def replay(lines: Iterable[str]) -> Iterator[Result]:
    """Let the simulator schedule every recorded pod again, lazily and in order.

    Args:
        lines: JSON, one recording a line: the cluster's lists, `pending` and `verdict`.
    """
    stage, shown = None, None
    for line in lines:
        recording = json.loads(line)
        lists = {name: recording[name] for name in RESOURCES if recording.get(name)}
        try:
            if stage is None or lists != shown:
                stage, shown = Stage(lists), lists
            outcome = stage.schedule(recording["pending"])
            differences = tuple(_differences(recording["verdict"], outcome))
            if stage.has_changed:
                stage = None
        except ApiError as error:
            stage, differences = None, (f"refused by the API: {error}",)
        kinds = tuple(recording.get("kinds") or ())
        yield Result(id=recording["id"], differences=differences, kinds=kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What became of a pod."""

    node: str
    """Empty if it has no place."""
    reason: str
    message: str


class Stage:
    """A cluster with nothing but an API and a scheduler."""

    def __init__(self, lists: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Create the objects of lists that are named as in recordings."""
        numbers = itertools.count(1)
        server = ApiServer(
            lambda: _NOW,
            lambda: str(UUID(int=next(numbers))),
            lambda: f"{next(numbers):05d}"[-5:],
            gates=frozenset({COMPARING_TOLERATIONS}),
        )
        self.has_changed = False
        """Whether scheduling a pod left a trace."""
        self.api = server.direct
        for name, resource in RESOURCES.items():
            for obj in lists.get(name, ()):
                self.put(resource, obj)
        self._scheduler = Scheduler(self.api)

    def schedule(self, pending: dict[str, Any]) -> _Outcome:
        """Leave a pod to the scheduler, say what became of it, and take it away again."""
        name, namespace = self.put("pods", pending)
        self.settle()
        pod = self.api.get("pods", name, namespace)
        condition = condition_of(pod, "PodScheduled") or {}
        # One whose volumes are being made is not bound yet, but its node is settled.
        promised = "" if condition else pod["status"].get("nominatedNodeName", "")
        self.has_changed = bool(promised)
        self.api.delete("pods", name, namespace, _AT_ONCE)
        return _Outcome(
            node=pod["spec"].get("nodeName") or promised,
            reason=condition.get("reason", ""),
            message=condition.get("message", ""),
        )

    def settle(self) -> None:
        """Let the scheduler do all that can be done at once."""
        again: datetime | None = _NOW
        while again == _NOW:
            again = self._scheduler.step(_NOW).again

    def put(self, resource: str, obj: Mapping[str, Any]) -> tuple[str, str]:
        """Create an object, in a namespace if it has one; return its name and namespace."""
        meta = obj["metadata"]
        name, namespace = meta["name"], meta.get("namespace", "")
        if resource in ("pods", "persistentvolumeclaims"):
            namespace = namespace or "default"
        if namespace and self.api.find("namespaces", namespace) is None:
            self.api.create("namespaces", {"metadata": {"name": namespace}})
        if resource == "namespaces" and self.api.find(resource, name) is not None:
            self.api.patch(resource, name, {"metadata": {"labels": meta.get("labels")}})
            return name, namespace
        kept = {key: value for key, value in meta.items() if key != "deletionTimestamp"}
        given = _LEFT_OUT.get(resource, {}) | {
            key: value for key, value in obj.items() if key != "status" or resource == "nodes"
        }
        created = self.api.create(resource, thaw({**given, "metadata": kept}), namespace)
        if obj.get("status") and resource != "nodes":
            status = {**created.get("status", {}), **obj["status"]}
            self.api.update(resource, {**created, "status": status}, subresource="status")
        if "deletionTimestamp" in meta:
            self.api.delete(resource, name, namespace)
        return name, namespace


def _differences(recorded: Mapping[str, Any], ours: _Outcome) -> Iterator[str]:
    if recorded["schedulable"]:
        if not ours.node:
            yield f'schedulable: recorded True, ours "{ours.message}"'
        elif ours.node not in recorded["feasibleNodes"]:
            yield f"node: recorded one of {recorded['feasibleNodes']}, ours {ours.node}"
        return
    if ours.node:
        yield f"schedulable: recorded False, ours on {ours.node}"
        return
    for member in ("reason", "message"):
        if recorded[member] != getattr(ours, member):
            yield f'{member}: recorded "{recorded[member]}", ours "{getattr(ours, member)}"'
