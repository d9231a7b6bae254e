"""Whether a Job has come to its end, and why; pure.

A Job says first that it will end (`FailureTarget`, `SuccessCriteriaMet`), and that it has ended
(`Failed`, `Complete`) once no pod of it is left running.

Source: Kubernetes documentation, "Jobs: Job termination and cleanup, Success policy, Backoff limit
per index".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.controllers import job_failures
from services.simulator.core.controllers.job_indexes import compressed, expanded
from services.simulator.core.objects import (
    Object,
    condition_of,
    read_stamp,
    span_of,
)

EARLY = {"Failed": "FailureTarget", "Complete": "SuccessCriteriaMet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a Job ends."""

    kind: str
    """`Failed` or `Complete`."""
    reason: str
    message: str


def end_of(job: Object, pods: Sequence[Object], active: int, now: datetime) -> End | None:
    """Return how a Job ends, None while it goes on.

    Args:
        job: with the pods that ended counted in its status.
        pods: all of its pods.
        active: how many of them have neither ended nor been deleted.
        now: the present instant.
    """
    known = _announced(job)
    if known is not None:
        return known
    return _failure(job, pods, now) or _success(job, active)


def _announced(job: Object) -> End | None:
    for kind, early in EARLY.items():
        condition = condition_of(job, early)
        if condition is not None and condition["status"] == "True":
            return End(kind=kind, reason=condition["reason"], message=condition["message"])
    return None


def _failure(job: Object, pods: Sequence[Object], now: datetime) -> End | None:
    spec, status = job["spec"], job["status"]
    limit: int = spec["backoffLimit"]
    if status.get("failed", 0) > limit or _restarted_too_often(spec, pods, limit):
        return _failed("BackoffLimitExceeded", "Job has reached the specified backoff limit")
    deadline = deadline_of(job)
    if deadline is not None and deadline <= now:
        return _failed("DeadlineExceeded", "Job was active longer than specified deadline")
    if spec.get("backoffLimitPerIndex") is None:
        return None
    failed = len(expanded(status.get("failedIndexes", "")))
    most = spec.get("maxFailedIndexes")
    if most is not None and failed > most:
        why = "Job has exceeded the specified maximal number of failed indexes"
        return _failed("MaxFailedIndexesExceeded", why)
    if failed and failed + status.get("succeeded", 0) >= spec["completions"]:
        return _failed("FailedIndexes", "Job has failed indexes")
    return None


def _failed(reason: str, message: str) -> End:
    return End(kind="Failed", reason=reason, message=message)


def _restarted_too_often(spec: Mapping[str, Any], pods: Sequence[Object], limit: int) -> bool:
    if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    return job_failures.restarts(pods) >= max(limit, 1)


def deadline_of(job: Mapping[str, Any]) -> datetime | None:
    """Return when a Job has been active for too long, None if it may for ever."""
    seconds, start = job["spec"].get("activeDeadlineSeconds"), job["status"].get("startTime")
    if seconds is None or start is None or job["spec"].get("suspend"):
        return None
    return read_stamp(start) + span_of(seconds)


def _success(job: Object, active: int) -> End | None:
    spec, succeeded = job["spec"], job["status"].get("succeeded", 0)
    rule = _met_rule(job)
    if rule is not None:
        message = f"Matched rules at index {rule}"
        return End(kind="Complete", reason="SuccessPolicy", message=message)
    wanted = spec.get("completions")
    enough = succeeded > 0 if wanted is None else succeeded >= wanted
    if not enough or active:
        return None
    message = "Reached expected number of succeeded pods"
    return End(kind="Complete", reason="CompletionsReached", message=message)


def _met_rule(job: Object) -> int | None:
    """Return the first rule of the success policy that holds."""
    done = expanded(job["status"].get("completedIndexes", ""))
    policy = job["spec"].get("successPolicy") or {}
    for number, rule in enumerate(policy.get("rules") or ()):
        meant = expanded(rule["succeededIndexes"]) if rule.get("succeededIndexes") else None
        succeeded = done if meant is None else done & meant
        count = rule.get("succeededCount")
        if count is not None and len(succeeded) >= count:
            return number
        if count is None and meant is not None and meant <= done:
            return number
    return None


def with_failed(status: Object, indexes: set[int]) -> Object:
    """Return a status with some more failed indexes."""
    known = expanded(status.get("failedIndexes", ""))
    return {**status, "failedIndexes": compressed(known | indexes)}
