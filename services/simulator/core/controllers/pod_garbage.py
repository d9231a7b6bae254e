"""Pods that no kubelet can end: on nodes that are gone or out of service, or deleted unbound.

Source: Kubernetes documentation, "Pod Lifecycle: Garbage collection of Pods", "Non-graceful node
shutdown handling".
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client, node_name
from services.simulator.core.controllers.controller import Controller, itself
from services.simulator.core.objects import (
    Object,
    has_ended,
    is_deleting,
    is_true,
    with_condition,
)

QUARANTINE = timedelta(seconds=40)
"""How long pods name a missing node before they go; objects of a dump come in any order."""

_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def pod_garbage_controller(client: Client) -> Controller:
    """Return the controller that deletes pods without node."""
    api, on_node = client.api, client.index("pods", node_name)
    missing: dict[str, datetime] = {}

    def reconcile(name: str, now: datetime) -> datetime | None:
        node = api.find("nodes", name)
        if node is not None:
            missing.pop(name, None)
            if _is_out_of_service(node):
                for pod in filter(is_deleting, on_node.of(name)):
                    _end(api, pod, None, now)
            return None
        orphans = on_node.of(name)
        if not orphans:
            missing.pop(name, None)
            return None
        until = missing.setdefault(name, now + QUARANTINE)
        if now < until:
            return until
        for pod in orphans:
            _end(api, pod, "PodGC: node no longer exists", now)
        missing.pop(name, None)
        return None

    return Controller("podgc", client, {"nodes": itself, "pods": _its_node}, reconcile)


def _its_node(pod: Object) -> Iterable[str]:
    name = node_name(pod)
    return (name,) if name else ()


def _is_out_of_service(node: Object) -> bool:
    taints = node["spec"].get("taints") or ()
    return not is_true(node, "Ready") and any(t.get("key") == _OUT_OF_SERVICE for t in taints)


def _end(api: DirectApi, pod: Object, why: str | None, now: datetime) -> None:
    """Write that a pod has failed, since nobody else will, and delete it at once."""
    meta = pod["metadata"]
    if not has_ended(pod):
        conditions = list(pod["status"].get("conditions") or ())
        if why is not None:
            condition = {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": "DeletionByPodGC",
                "message": why,
                "observedGeneration": meta.get("generation"),
            }
            conditions = with_condition(conditions, condition, now)
        status = {"phase": "Failed", "conditions": conditions}
        change = {"metadata": {"uid": meta["uid"]}, "status": status}
        api.patch("pods", meta["name"], change, meta["namespace"], subresource="status")
    options = DeleteOptions(grace_seconds=0, uid=meta["uid"])
    api.delete("pods", meta["name"], meta["namespace"], options)
