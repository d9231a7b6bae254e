"""Node lifecycle: the taint of a node that is not ready, and the pods of nodes that are gone.

Source: Kubernetes documentation, "Nodes: Conditions", "Taint based Evictions", "Pod garbage
collection".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.frozen import thaw
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.feed import Index
from services.simulator.core.objects import Object, condition_of

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

ORPHANS_WAIT = timedelta(seconds=40)
"""How long a pod may name a node that was never seen; objects of a dump come in any order."""


def node_lifecycle_controller(api: DirectApi) -> Controller:
    """Return the controller of the taints that follow from a node's condition and its cordon."""

    def reconcile(name: str, _now: datetime) -> None:
        node = api.find("nodes", name)
        if node is None:
            return
        wanted = taints_of(node)
        if wanted != (node["spec"].get("taints") or []):
            changed = thaw(node)
            changed["spec"]["taints"] = wanted
            api.update("nodes", changed)

    return Controller("nodelifecycle", api, {"nodes": itself}, reconcile)


def taints_of(node: Mapping[str, Any]) -> list[Object]:
    """Return the taints that a node shall have: those of others, then those of its state."""
    ours = {NOT_READY, UNREACHABLE, UNSCHEDULABLE}
    present = [dict(taint) for taint in node["spec"].get("taints") or ()]
    wanted = list(_of_state(node))
    kept = [t for t in present if t.get("key") not in ours or _identity(t) in wanted]
    known = set(map(_identity, kept))
    added = [{"key": k, "effect": e} for k, e in wanted if (k, e) not in known]
    return kept + added


def _identity(taint: Mapping[str, Any]) -> tuple[str, str]:
    return taint.get("key", ""), taint.get("effect", "")


def _of_state(node: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    ready = condition_of(node, "Ready")
    if ready is None or ready["status"] == "False":
        yield NOT_READY, "NoSchedule"
    elif ready["status"] == "Unknown":
        yield UNREACHABLE, "NoSchedule"
    if node["spec"].get("unschedulable"):
        yield UNSCHEDULABLE, "NoSchedule"


def pod_garbage_controller(api: DirectApi) -> Controller:
    """Return the controller that deletes pods without node, after a while if it was never there."""
    on_node = Index(api, "pods", lambda pod: pod["spec"].get("nodeName"))
    awaited: dict[str, datetime] = {}
    known: set[str] = set()

    def reconcile(name: str, now: datetime) -> datetime | None:
        if api.find("nodes", name) is not None:
            known.add(name)
            awaited.pop(name, None)
            return None
        orphans = on_node.of(name)
        if name not in known and orphans:
            until = awaited.setdefault(name, now + ORPHANS_WAIT)
            if now < until:
                return until
        for pod in orphans:
            meta = pod["metadata"]
            options = DeleteOptions(grace_seconds=0, uid=meta["uid"])
            api.delete("pods", meta["name"], meta["namespace"], options)
        known.discard(name)
        awaited.pop(name, None)
        return None

    sources = {"nodes": itself, "pods": _its_node}
    return Controller("podgc", api, sources, reconcile)


def _its_node(pod: Object) -> Iterable[str]:
    name = pod["spec"].get("nodeName")
    return (name,) if name else ()
