"""What follows from a node's conditions and labels: taints, mirrored labels; pure.

Source: Kubernetes documentation, "Nodes: Conditions", "Taint Nodes by Condition", "Well-Known
Labels".
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from services.simulator.core.objects import Object, condition_of, labels_of, stamp, with_condition

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

_BY_CONDITION = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
_OF_STATE = {UNSCHEDULABLE} | {key for keys in _BY_CONDITION.values() for key in keys.values()}
TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl"
TTL_SECONDS = (0, 15, 30, 60, 300)
_TTL_STEPS = ((0, 100), (90, 500), (450, 1000), (900, 2000), (1800, 10**9))
"""Between how many nodes each holds; they overlap, so that it does not flap."""
_WATCHED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_MIRRORED = (
    ("kubernetes.io/os", "beta.kubernetes.io/os"),
    ("kubernetes.io/arch", "beta.kubernetes.io/arch"),
)


def readiness(node: Mapping[str, Any]) -> str:
    """Return the status of the Ready condition, empty if there is none."""
    condition = condition_of(node, "Ready")
    return str(condition["status"]) if condition is not None else ""


def with_state_taints(node: Mapping[str, Any], now: datetime) -> list[Object]:
    """Return the taints of a node with the NoSchedule ones that its conditions and cordon ask."""
    present = [dict(taint) for taint in node["spec"].get("taints") or ()]
    wanted = list(dict.fromkeys(_of_state(node)))
    kept = [
        taint
        for taint in present
        if taint.get("effect") != "NoSchedule"
        or taint.get("key") not in _OF_STATE
        or taint["key"] in wanted
    ]
    known = {taint["key"] for taint in kept if taint.get("effect") == "NoSchedule"}
    return kept + [_taint(key, "NoSchedule", now) for key in wanted if key not in known]


def _of_state(node: Mapping[str, Any]) -> Iterable[str]:
    for condition in node.get("status", {}).get("conditions") or ():
        key = _BY_CONDITION.get(condition["type"], {}).get(condition["status"])
        if key is not None:
            yield key
    if node["spec"].get("unschedulable"):
        yield UNSCHEDULABLE


def _taint(key: str, effect: str, now: datetime) -> Object:
    return {"key": key, "effect": effect, "timeAdded": stamp(now)}


def evicting_taint_of(node: Mapping[str, Any]) -> str | None:
    """Return the key of the NoExecute taint that the node's readiness asks for, if any."""
    return _BY_CONDITION["Ready"].get(readiness(node))


def with_evicting_taint(node: Mapping[str, Any], wanted: str | None, now: datetime) -> list[Object]:
    """Return the taints with that NoExecute taint of readiness and no other."""
    present = [dict(taint) for taint in node["spec"].get("taints") or ()]
    kept = [
        taint
        for taint in present
        if taint.get("effect") != "NoExecute"
        or taint.get("key") not in (NOT_READY, UNREACHABLE)
        or taint["key"] == wanted
    ]
    if wanted is None or has_evicting_taint({"spec": {"taints": kept}}, wanted):
        return kept
    return [*kept, _taint(wanted, "NoExecute", now)]


def has_evicting_taint(node: Mapping[str, Any], key: str | None = None) -> bool:
    """Tell whether a node has the NoExecute taint of a key, or one of readiness."""
    keys = (NOT_READY, UNREACHABLE) if key is None else (key,)
    return any(
        taint.get("effect") == "NoExecute" and taint.get("key") in keys
        for taint in node["spec"].get("taints") or ()
    )


def missing_labels(node: Mapping[str, Any]) -> dict[str, str]:
    """Return the old names of labels that do not say what the new ones do."""
    labels = labels_of(node)
    return {
        old: labels[new]
        for new, old in _MIRRORED
        if new in labels and labels.get(old) != labels[new]
    }


def ttl_of(nodes: int, step: int) -> int:
    """Return how long kubelets may keep Secrets, as a step of `TTL_SECONDS`, by cluster size.

    Args:
        nodes: how many there are.
        step: the present step, which is left only when the size is well beyond it.
    """
    while step < len(_TTL_STEPS) - 1 and nodes > _TTL_STEPS[step][1]:
        step += 1
    while step > 0 and nodes < _TTL_STEPS[step][0]:
        step -= 1
    return step


def unknown_conditions(node: Mapping[str, Any], now: datetime) -> list[Object]:
    """Return the conditions of a node of which nothing was heard for too long."""
    conditions = list(node.get("status", {}).get("conditions") or ())
    for type_ in _WATCHED:
        old = condition_of(node, type_)
        if old is not None and old["status"] == "Unknown":
            continue
        never = old is None
        changed = {
            "type": type_,
            "status": "Unknown",
            "reason": "NodeStatusNeverUpdated" if never else "NodeStatusUnknown",
            "message": f"Kubelet {'never posted' if never else 'stopped posting'} node status.",
        }
        created = node["metadata"]["creationTimestamp"]
        beat = created if old is None else old.get("lastHeartbeatTime")
        conditions = with_condition(conditions, changed, now, extra={"lastHeartbeatTime": beat})
    return conditions


def zone_of(node: Mapping[str, Any]) -> str:
    """Return the region and zone of a node as one key, empty if it has neither."""
    labels = labels_of(node)
    parts = [
        labels.get(f"topology.kubernetes.io/{part}")
        or labels.get(f"failure-domain.beta.kubernetes.io/{part}", "")
        for part in ("region", "zone")
    ]
    return ":\0:".join(parts) if any(parts) else ""
