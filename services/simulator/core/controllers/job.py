"""Jobs: pods until enough of them ended well.

Pods carry a finalizer until they are counted, so that none is lost with its node. Pods of indexed
Jobs get their index; success and failure policies are not looked at.

Source: Kubernetes documentation, "Jobs".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client
from services.simulator.core.controllers import pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.job_indexes import (
    INDEX,
    compressed,
    expanded,
    free_indexes,
)
from services.simulator.core.objects import (
    Object,
    condition_of,
    controller_of,
    has_ended,
    is_deleting,
    is_true,
    read_stamp,
    split_key,
    stamp,
    with_condition,
)
from services.simulator.core.part import earliest

JOBS = "jobs.batch"
TRACKING = "batch.kubernetes.io/job-tracking"

_its_job = its_controller("Job")


def job_controller(client: Client) -> Controller:
    """Return the controller of Jobs."""
    api = client.api
    owned = client.index("pods", lambda pod: next(iter(_its_job(pod)), None))

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        job = api.find(JOBS, name, namespace)
        uid = job["metadata"]["uid"] if job is not None else ""
        mine: list[Object] = []
        orphans: list[Object] = []
        for pod in owned.of(key):
            owner = controller_of(pod)
            (mine if owner is not None and owner["uid"] == uid else orphans).append(pod)
        for pod in orphans:
            _let_go(api, pod)
        if job is None:
            return None
        job = _count(api, job, mine)
        if not is_deleting(job) and not _is_finished(job):
            job = _judge(api, job, now)
            _scale(client, job, pods.active(owned.of(key)), now)
        return _report(api, job, owned.of(key), now)

    return Controller("job", client, {JOBS: itself, "pods": _its_job}, reconcile)


def _is_finished(job: Mapping[str, Any]) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


# Counting


def _count(api: DirectApi, job: Object, mine: Sequence[Object]) -> Object:
    """Count the pods that ended since the last look, then let them go."""
    ended = [pod for pod in mine if _is_tracked(pod) and (has_ended(pod) or _is_lost(pod))]
    if not ended:
        return job
    good = [pod for pod in ended if pod["status"].get("phase") == "Succeeded"]
    status = job["status"]
    counted = {
        **status,
        "succeeded": status.get("succeeded", 0) + len(good),
        "failed": status.get("failed", 0) + len(ended) - len(good),
    }
    if job["spec"]["completionMode"] == "Indexed":
        indexes = expanded(status.get("completedIndexes", "")) | {_index(pod) for pod in good}
        counted |= {"completedIndexes": compressed(indexes), "succeeded": len(indexes)}
    counted = {key: value for key, value in counted.items() if value not in (0, "")}
    job = api.update(JOBS, {**job, "status": counted}, subresource="status")
    for pod in ended:
        _let_go(api, pod)
    return job


def _index(pod: Mapping[str, Any]) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdecimal() else 0


def _is_tracked(pod: Mapping[str, Any]) -> bool:
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def _is_lost(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod was deleted where no kubelet can say how it ended."""
    return is_deleting(pod) and not pod["metadata"].get("deletionGracePeriodSeconds")


def _let_go(api: DirectApi, pod: Object) -> None:
    if not _is_tracked(pod):
        return
    meta = pod["metadata"]
    kept = [finalizer for finalizer in meta["finalizers"] if finalizer != TRACKING]
    api.patch("pods", meta["name"], {"metadata": {"finalizers": kept}}, meta["namespace"])


# Deciding


def _judge(api: DirectApi, job: Object, now: datetime) -> Object:
    """Write that a Job is complete or has failed, if it is so."""
    end = _end_of(job, now)
    if end is None:
        return job
    kind, reason, message = end
    early = "SuccessCriteriaMet" if kind == "Complete" else "FailureTarget"
    conditions = list(job["status"].get("conditions") or ())
    for type_ in (early, kind):
        condition = {"type": type_, "status": "True", "reason": reason, "message": message}
        conditions = with_condition(conditions, condition, now, extra={"lastProbeTime": stamp(now)})
    status = {**job["status"], "conditions": conditions}
    if kind == "Complete":
        status["completionTime"] = stamp(now)
    status.setdefault("startTime", stamp(now))
    return api.update(JOBS, {**job, "status": status}, subresource="status")


def _end_of(job: Object, now: datetime) -> tuple[str, str, str] | None:
    spec, status = job["spec"], job["status"]
    if status.get("failed", 0) > spec["backoffLimit"]:
        return "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    deadline = _deadline(job)
    if deadline is not None and deadline <= now:
        return "Failed", "DeadlineExceeded", "Job was active longer than specified deadline"
    wanted = spec.get("completions")
    succeeded = status.get("succeeded", 0)
    queue_is_done = succeeded > 0 and not status.get("active")
    done = queue_is_done if wanted is None else succeeded >= wanted
    return (
        ("Complete", "CompletionsReached", "Reached expected number of succeeded pods")
        if done
        else None
    )


def _deadline(job: Mapping[str, Any]) -> datetime | None:
    seconds, start = job["spec"].get("activeDeadlineSeconds"), job["status"].get("startTime")
    if seconds is None or start is None:
        return None
    return read_stamp(start) + timedelta(seconds=seconds)


def _scale(client: Client, job: Object, running: Sequence[Object], now: datetime) -> None:
    spec, succeeded = job["spec"], job["status"].get("succeeded", 0)
    wanted = spec["parallelism"]
    if _is_finished(job) or spec.get("suspend"):
        wanted = 0
    elif spec.get("completions") is not None:
        wanted = min(wanted, spec["completions"] - succeeded)
    elif succeeded:
        wanted = min(wanted, len(running))
    for pod in running[wanted:]:
        pods.remove(client, job, pod, now)
    indexes = free_indexes(job, [_index(pod) for pod in running])
    for _ in range(wanted - len(running)):
        pods.create(client, job, new_pod(job, next(indexes, None)), now)


def new_pod(job: Object, index: int | None) -> Object:
    """Return a pod of a Job, with an index if the Job counts by them."""
    pod = pods.pod_from(job, job["spec"]["template"])
    pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
    if index is not None:
        name = f"{job['metadata']['name']}-{index}"
        pod["metadata"]["generateName"] = f"{name}-"
        for member in ("annotations", "labels"):
            pod["metadata"].setdefault(member, {})[INDEX] = str(index)
        pod["spec"]["hostname"] = name
    return pod


# Reporting


def _report(
    api: DirectApi, job: Object, everyone: Sequence[Object], now: datetime
) -> datetime | None:
    running = pods.active(everyone)
    suspended = bool(job["spec"].get("suspend"))
    waits = suspended and not _is_finished(job)
    status = {
        **job["status"],
        "active": len(running) or None,
        "ready": sum(map(pods.is_ready, running)),
        "terminating": sum(is_deleting(pod) and not has_ended(pod) for pod in everyone),
        "uncountedTerminatedPods": {},
        "startTime": None if waits else job["status"].get("startTime") or stamp(now),
    }
    if suspended or condition_of(job, "Suspended") is not None:
        status["conditions"] = _suspension(job, now, suspended=suspended)
    pods.write_status(api, JOBS, job, status)
    return earliest(
        _deadline({**job, "status": status}) if not _is_finished(job) else None,
        _expire(api, job, now),
    )


def _suspension(job: Object, now: datetime, *, suspended: bool) -> list[Object]:
    condition = {
        "type": "Suspended",
        "status": "True" if suspended else "False",
        "reason": "JobSuspended" if suspended else "JobResumed",
        "message": f"Job {'suspended' if suspended else 'resumed'}",
    }
    conditions = list(job["status"].get("conditions") or ())
    return with_condition(conditions, condition, now, extra={"lastProbeTime": stamp(now)})


def _expire(api: DirectApi, job: Object, now: datetime) -> datetime | None:
    """Delete a finished Job whose time to live is over; return when it is, if it is to come."""
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    ends = (condition_of(job, kind) for kind in ("Complete", "Failed"))
    end = next((c for c in ends if c is not None and c["status"] == "True"), None)
    if seconds is None or end is None or is_deleting(job):
        return None
    expiry = read_stamp(end.get("lastTransitionTime")) + timedelta(seconds=seconds)
    if now < expiry:
        return expiry
    meta = job["metadata"]
    options = DeleteOptions(uid=meta["uid"], propagation="Foreground")
    api.delete(JOBS, meta["name"], meta["namespace"], options)
    return None
