"""Taint eviction: pods leave a node whose NoExecute taint they do not tolerate, or no longer.

Source: Kubernetes documentation, "Taint based Evictions".
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client, node_name
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.events import Note
from services.simulator.core.feed import Change
from services.simulator.core.objects import (
    Object,
    is_deleting,
    key_of,
    span_of,
    with_condition,
)
from services.simulator.core.part import earliest
from services.simulator.core.taints import tolerates

Taint = Mapping[str, Any]

_COMPONENT = "taint-eviction-controller"
_FOR_EVER = timedelta.max


def taint_eviction_controller(client: Client) -> Controller:
    """Return the controller that deletes pods because of NoExecute taints."""
    api, on_node = client.api, client.index("pods", node_name)
    ends: dict[str, dict[str, datetime]] = {}
    """When pods have to go, by node and uid: set once, until all taints are tolerated for ever."""

    def reconcile(name: str, now: datetime) -> datetime | None:
        node = api.find("nodes", name)
        taints = _evicting(node) if node is not None else []
        if not taints and name not in ends:
            return None
        before, ends[name] = ends.get(name, {}), {}
        for pod in on_node.of(name):
            uid, span = pod["metadata"]["uid"], _tolerated_for(pod, taints)
            if is_deleting(pod):
                continue
            if span == _FOR_EVER:
                if uid in before:
                    _tell(client, pod, "Cancelling deletion of")
                continue
            end = before.get(uid, now + span) if span else now
            if end > now:
                ends[name][uid] = end
                continue
            _tell(client, pod, "Marking for deletion")
            _evict(api, pod, now)
        if not ends[name]:
            del ends[name]
        return earliest(*ends.get(name, {}).values())

    sources = {"nodes": itself, "pods": _its_node}
    matters = {"nodes": _is_tainted_otherwise, "pods": _is_placed_otherwise}
    return Controller("tainteviction", client, sources, reconcile, matters=matters)


def _is_tainted_otherwise(change: Change) -> bool:
    if change.old is None or change.new is None:
        return True
    return bool(change.old["spec"].get("taints") != change.new["spec"].get("taints"))


def _is_placed_otherwise(change: Change) -> bool:
    """Tell whether a pod came, went, or tolerates something else."""
    if change.old is None or change.new is None:
        return True
    before, after = change.old["metadata"], change.new["metadata"]
    return node_name(change.old) != node_name(change.new) or any(
        before.get(member) != after.get(member)
        for member in ("uid", "generation", "deletionTimestamp")
    )


def _its_node(pod: Object) -> Iterable[str]:
    name = node_name(pod)
    return (name,) if name else ()


def _evicting(node: Object) -> list[Taint]:
    return [t for t in node["spec"].get("taints") or () if t.get("effect") == "NoExecute"]


def _tolerated_for(pod: Object, taints: Sequence[Taint]) -> timedelta:
    """Return for how long the pod tolerates the taints."""
    shortest = _FOR_EVER
    for taint in taints:
        tolerating = (t for t in pod["spec"].get("tolerations") or () if tolerates(t, taint))
        toleration = next(tolerating, {"tolerationSeconds": 0})
        seconds = toleration.get("tolerationSeconds")
        if seconds is not None:
            shortest = min(shortest, span_of(max(0, seconds)))
    return shortest


def _tell(client: Client, pod: Object, what: str) -> None:
    message = f"{what} Pod {key_of(pod)}"
    note = Note(reason="TaintManagerEviction", message=message, component=_COMPONENT)
    client.events.record(pod, note)


def _evict(api: DirectApi, pod: Object, now: datetime) -> None:
    """Say why and delete, with the pod's own grace period."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "observedGeneration": pod["metadata"].get("generation"),
    }
    before = list(pod["status"].get("conditions") or ())
    conditions = with_condition(before, condition, now, extra={"lastProbeTime": None})
    status = {**pod["status"], "conditions": conditions}
    api.update("pods", {**pod, "status": status}, subresource="status")
    pods.delete(api, pod)
