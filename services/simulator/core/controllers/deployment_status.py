"""What a Deployment's status says of its ReplicaSets: counts and conditions; pure.

Source: Kubernetes documentation, "Deployment status"; the words are those that `kubectl rollout
status` reads.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.simulator.core.controllers.rollout import bounds_of
from services.simulator.core.objects import (
    Object,
    condition_of,
    read_stamp,
    span_of,
    stamp,
    with_condition,
)

_COMPLETE = ("updatedReplicas", "replicas", "availableReplicas")
_PROGRESS = (*_COMPLETE, "readyReplicas")


def status_of(
    deployment: Mapping[str, Any], new: Object | None, old: Sequence[Object], now: datetime
) -> Object:
    """Return the status of a Deployment; members that are None are left out."""
    everyone = [*old, *([] if new is None else [new])]
    total, available = _sum(everyone, "replicas"), _sum(everyone, "availableReplicas")
    counts = {
        "replicas": total or None,
        "updatedReplicas": _sum([] if new is None else [new], "replicas") or None,
        "readyReplicas": _sum(everyone, "readyReplicas") or None,
        "availableReplicas": available or None,
        "unavailableReplicas": max(0, total - available) or None,
        "terminatingReplicas": _sum(everyone, "terminatingReplicas"),
    }
    status = {
        "observedGeneration": deployment["metadata"]["generation"],
        **counts,
        "collisionCount": deployment["status"].get("collisionCount"),
    }
    return {**status, "conditions": _conditions(deployment, new, status, now)}


def _sum(replica_sets: Sequence[Object], count: str) -> int:
    return sum(one["status"].get(count, 0) for one in replica_sets)


def _conditions(
    deployment: Mapping[str, Any], new: Object | None, status: Object, now: datetime
) -> list[Object]:
    conditions = list(deployment["status"].get("conditions") or ())
    bounds = bounds_of(deployment["spec"])
    enough = (status["availableReplicas"] or 0) >= bounds.replicas - bounds.unavailable
    available = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    }
    conditions = _set(conditions, available, now, touch=False)
    if new is None:
        return conditions
    moved = any(deployment["status"].get(count) != status[count] for count in _PROGRESS)
    name, late = new["metadata"]["name"], not moved and _is_late(deployment, now)
    progress = _progress(deployment, name, status, late=late)
    return _set(conditions, progress, now, touch=moved)


def _progress(deployment: Mapping[str, Any], name: str, status: Object, *, late: bool) -> Object:
    wanted = deployment["spec"]["replicas"]
    condition = condition_of(deployment, "Progressing") or {}
    done = condition.get("reason") == "NewReplicaSetAvailable" and name in condition.get(
        "message", ""
    )
    if all((status[count] or 0) == wanted for count in _COMPLETE):
        value, reason, words = "True", "NewReplicaSetAvailable", "has successfully progressed."
    elif done:  # scaling is no rollout
        return {key: condition.get(key, "") for key in ("type", "status", "reason", "message")}
    elif late:
        value, reason, words = "False", "ProgressDeadlineExceeded", "has timed out progressing."
    else:
        value, reason, words = "True", "ReplicaSetUpdated", "is progressing."
    message = f'ReplicaSet "{name}" {words}'
    return {"type": "Progressing", "status": value, "reason": reason, "message": message}


def _is_late(deployment: Mapping[str, Any], now: datetime) -> bool:
    condition = condition_of(deployment, "Progressing")
    if condition is None or condition["status"] == "False":
        return condition is not None
    deadline = span_of(deployment["spec"]["progressDeadlineSeconds"])
    return read_stamp(condition.get("lastUpdateTime")) + deadline <= now


def _set(conditions: list[Object], new: Object, now: datetime, *, touch: bool) -> list[Object]:
    old = next((entry for entry in conditions if entry["type"] == new["type"]), None)
    same = old is not None and all(old.get(key) == new[key] for key in new)
    updated = old.get("lastUpdateTime") if same and old is not None and not touch else None
    return with_condition(conditions, new, now, extra={"lastUpdateTime": updated or stamp(now)})
