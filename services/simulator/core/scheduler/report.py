"""What the scheduler says of a pod: the PodScheduled condition of one without a place, events."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from services.simulator.core.events import Note
from services.simulator.core.objects import Object, condition_of, with_condition

UNSCHEDULABLE = "Unschedulable"
ERROR = "SchedulerError"

_COMPONENT = "default-scheduler"


def refused_status(
    pod: Mapping[str, Any], reason: str, message: str, now: datetime
) -> Object | None:
    """Return the pod's status with the refusal in it, None if it says so already."""
    new = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    old = condition_of(pod, "PodScheduled")
    if old is not None and all(old.get(member) == value for member, value in new.items()):
        return None
    status = pod["status"]
    conditions = list(status.get("conditions") or ())
    extra = {"lastProbeTime": None}
    return {**status, "conditions": with_condition(conditions, new, now, extra=extra)}


def refusal(message: str) -> Note:
    """Return the event of a pod that found no place."""
    return Note(reason="FailedScheduling", message=message, component=_COMPONENT, is_warning=True)


def success(key: str, node: str) -> Note:
    """Return the event of a pod that was bound."""
    message = f"Successfully assigned {key} to {node}"
    return Note(reason="Scheduled", message=message, component=_COMPONENT)
