"""What the scheduler says of a pod: the PodScheduled condition of one without a place, events."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.events import Note
from services.simulator.core.objects import Object, condition_of, with_condition
from services.simulator.core.scheduler import preemption

UNSCHEDULABLE = "Unschedulable"
ERROR = "SchedulerError"

_COMPONENT = "default-scheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What a pod without a place is told."""

    reason: str
    message: str
    nominated: str | None = ""
    """The node on which room is being made for it; None: whichever it was."""


def refused_status(pod: Mapping[str, Any], refused: Refused, now: datetime) -> Object | None:
    """Return the pod's status with the refusal in it, None if it says so already."""
    status = dict(pod["status"])
    new = {
        "type": "PodScheduled",
        "status": "False",
        "reason": refused.reason,
        "message": refused.message,
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    if refused.nominated is not None:
        status.pop("nominatedNodeName", None)
    if refused.nominated:
        status["nominatedNodeName"] = refused.nominated
    old = condition_of(pod, "PodScheduled")
    if old is None or any(old.get(member) != value for member, value in new.items()):
        conditions = list(status.get("conditions") or ())
        status["conditions"] = with_condition(conditions, new, now, extra={"lastProbeTime": None})
    return status if status != pod["status"] else None


def victim_status(pod: Mapping[str, Any], now: datetime) -> Object:
    """Return the status of a pod that has to go for another one."""
    new = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": preemption.BY_PREEMPTION,
        "message": f"{_COMPONENT}: preempting to accommodate a higher priority pod",
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    conditions = list(pod["status"].get("conditions") or ())
    return {**pod["status"], "conditions": with_condition(conditions, new, now)}


def refusal(message: str) -> Note:
    """Return the event of a pod that found no place."""
    return Note(reason="FailedScheduling", message=message, component=_COMPONENT, is_warning=True)


def success(key: str, node: str) -> Note:
    """Return the event of a pod that was bound."""
    message = f"Successfully assigned {key} to {node}"
    return Note(reason="Scheduled", message=message, component=_COMPONENT)


def preempted(preemptor: Mapping[str, Any], node: str) -> Note:
    """Return the event of a pod that has to go."""
    message = f"Preempted by pod {preemptor['metadata']['uid']} on node {node}"
    return Note(reason="Preempted", message=message, component=_COMPONENT)
