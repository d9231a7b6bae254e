"""What the scheduler says of pods in their conditions: without a place, or to be gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.objects import Object, condition_of, with_condition
from services.simulator.core.scheduler import preemption
from services.simulator.core.scheduler.queue import DEFAULT_SCHEDULER

UNSCHEDULABLE = "Unschedulable"
ERROR = "SchedulerError"
_EXTRA = {"lastProbeTime": None}


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
        status["conditions"] = with_condition(conditions, new, now, extra=_EXTRA)
    return status if status != pod["status"] else None


def victim_status(pod: Mapping[str, Any], now: datetime) -> Object:
    """Return the status of a pod that has to go for another one."""
    new = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": preemption.BY_PREEMPTION,
        "message": f"{DEFAULT_SCHEDULER}: preempting to accommodate a higher priority pod",
        "observedGeneration": pod["metadata"].get("generation", 1),
    }
    conditions = list(pod["status"].get("conditions") or ())
    return {**pod["status"], "conditions": with_condition(conditions, new, now, extra=_EXTRA)}
