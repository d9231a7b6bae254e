"""Jobs: pods until enough of them ended well, or too many badly.

Pods carry a finalizer until they are counted, so that none is lost with its node.

Source: Kubernetes documentation, "Jobs".
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.direct import DirectApi
from services.simulator.core.client import Client
from services.simulator.core.controllers import adoption, job_end, job_failures, pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.job_failures import Record, index_of
from services.simulator.core.controllers.job_indexes import (
    INDEX,
    compressed,
    expanded,
    free_indexes,
)
from services.simulator.core.events import Note
from services.simulator.core.objects import (
    Object,
    condition_of,
    controller_of,
    has_ended,
    is_deleting,
    is_true,
    read_stamp,
    span_of,
    split_key,
    stamp,
    with_condition,
)
from services.simulator.core.part import earliest
from services.simulator.core.timetable import AT_ONCE

JOBS = "jobs.batch"
TRACKING = "batch.kubernetes.io/job-tracking"

_COMPONENT = "job-controller"
_MANAGER = "kubernetes.io/job-controller"
_INDEX_VARIABLE = "JOB_COMPLETION_INDEX"

_its_job = its_controller("Job")


def _job_key(pod: Object) -> str | None:
    return next(iter(_its_job(pod)), None)


def job_controller(client: Client) -> Controller:
    """Return the controller of Jobs."""
    api, owned, free = client.api, client.index("pods", _job_key), adoption.orphans(client)
    who_selects = adoption.who_selects(client, JOBS)
    records: dict[str, tuple[str, Record]] = {}
    """The failures of each Job, with its uid."""

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        job = api.find(JOBS, name, namespace)
        uid = job["metadata"]["uid"] if job is not None else ""
        for pod in owned.of(key):
            owner = controller_of(pod)
            if owner is not None and owner["uid"] != uid:
                _let_go(api, pod)
        if job is None or job["spec"].get("managedBy", _MANAGER) != _MANAGER:
            records.pop(key, None)
            return None
        if not is_deleting(job) and not _is_finished(job):
            adoption.adopt(api, job, free)
        work = _Work(client, job, owned.of(key), now)
        if _is_finished(job):
            records.pop(key, None)
            work.let_everyone_go()
            return work.expire()
        return work.go_on(records)

    def concerned(pod: Object) -> Iterable[str]:
        return (*_its_job(pod), *who_selects(pod))

    return Controller("job", client, {JOBS: itself, "pods": concerned}, reconcile)


def _is_finished(job: Mapping[str, Any]) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


class _Work:
    """What is done for one Job at one instant; its status as it becomes."""

    def __init__(self, client: Client, job: Object, mine: Sequence[Object], now: datetime) -> None:
        self._client = client
        self._job = job
        self._mine = mine
        self._now = now
        self._status: Object = dict(job["status"])

    def go_on(self, records: dict[str, tuple[str, Record]]) -> datetime | None:
        """Count what ended, end the Job or make pods, and report."""
        key, uid = _key(self._job), self._job["metadata"]["uid"]
        ended = [
            one for one in self._mine if _is_tracked(one) and (has_ended(one) or _is_lost(one))
        ]
        known = records.get(key, (uid, Record()))
        before = known[1] if known[0] == uid else Record()
        record = before.with_ended(ended)
        records[key] = (uid, record)
        self._count(ended)
        if not self._job["spec"].get("suspend"):
            self._status.setdefault("startTime", stamp(self._now))
        active = pods.active(self._mine)
        end = job_end.end_of(self._seen, self._mine, len(active), self._now)
        again: datetime | None = None
        if end is not None:
            self._end(end, active)
        elif not is_deleting(self._job):
            made, again = self._scale(active, record)
            if made and not ended:
                return self._now  # the status follows once the pods are seen
            self._say_suspended()
        self._report()
        for pod in ended:
            _let_go(self._client.api, pod)
        return earliest(again, None if end else job_end.deadline_of(self._seen))

    @property
    def _seen(self) -> Object:
        return {**self._job, "status": self._status}

    # Counting

    def _count(self, ended: Sequence[Object]) -> None:
        """Count the pods that ended since the last look."""
        if not ended:
            return
        status, spec = self._status, self._job["spec"]
        good = [one for one in ended if one["status"].get("phase") == "Succeeded"]
        counted, failed_indexes = 0, set[int]()
        for pod in ended:
            if pod in good:
                continue
            verdict = job_failures.judge(self._job, pod)
            if verdict.action == "FailJob":
                self._announce("Failed", "PodFailurePolicy", verdict.message)
            counted += verdict.action != "Ignore"
            limit = spec.get("backoffLimitPerIndex")
            often = limit is not None and (
                job_failures.failures_of_index(self._mine, index_of(pod)) > limit
            )
            if verdict.action == "FailIndex" or often:
                failed_indexes.add(index_of(pod))
        self._status = {
            **status,
            "conditions": self._status.get("conditions"),
            "succeeded": status.get("succeeded", 0) + len(good) or None,
            "failed": status.get("failed", 0) + counted or None,
        }
        if spec["completionMode"] == "Indexed":
            indexes = expanded(status.get("completedIndexes", "")) | set(map(index_of, good))
            self._status["completedIndexes"] = compressed(indexes) or None
            self._status["succeeded"] = len(indexes) or None
        if spec.get("backoffLimitPerIndex") is not None:
            self._status = job_end.with_failed(self._status, failed_indexes)
        self._status = {key: value for key, value in self._status.items() if value is not None}

    def let_everyone_go(self) -> None:
        """Take the finalizer from all pods."""
        for pod in self._mine:
            _let_go(self._client.api, pod)

    # Ending

    def _end(self, end: job_end.End, active: Sequence[Object]) -> None:
        """Announce the end, delete what runs, and end the Job once nothing runs any more."""
        self._announce(end.kind, end.reason, end.message)
        for pod in active:
            pods.remove(self._client, self._job, pod)
        terminating = any(is_deleting(one) and not has_ended(one) for one in self._mine)
        if active or terminating:
            return
        self._set(end.kind, "True", end.reason, end.message)
        if end.kind == "Complete":
            self._status["completionTime"] = stamp(self._now)
            self._tell("Completed", "Job completed")
        else:
            self._tell(end.reason, end.message, is_warning=True)

    def _announce(self, kind: str, reason: str, message: str) -> None:
        if not is_true(self._seen, job_end.EARLY[kind]):
            self._set(job_end.EARLY[kind], "True", reason, message)

    def _set(self, type_: str, value: str, reason: str, message: str) -> None:
        condition = {"type": type_, "status": value, "reason": reason, "message": message}
        before = list(self._status.get("conditions") or ())
        known = condition_of(self._seen, type_)
        if known is None or known["status"] != value:
            extra = {"lastProbeTime": stamp(self._now)}
            self._status["conditions"] = with_condition(before, condition, self._now, extra=extra)

    def _say_suspended(self) -> None:
        if self._job["spec"].get("suspend"):
            if not is_true(self._seen, "Suspended"):
                self._tell("Suspended", "Job suspended")
                self._status.pop("startTime", None)
            self._set("Suspended", "True", "JobSuspended", "Job suspended")
        elif is_true(self._seen, "Suspended"):
            self._set("Suspended", "False", "JobResumed", "Job resumed")
            self._status["startTime"] = stamp(self._now)
            self._tell("Resumed", "Job resumed")

    # Scaling

    def _scale(self, active: Sequence[Object], record: Record) -> tuple[bool, datetime | None]:
        """Make or delete pods; return whether any was made, and when to try again."""
        wanted = self._wanted(len(active))
        for pod in active[wanted:][:AT_ONCE]:
            pods.remove(self._client, self._job, pod)
        missing = wanted - len(active)
        if self._job["spec"].get("podReplacementPolicy") == "Failed":
            missing -= sum(is_deleting(one) and not has_ended(one) for one in self._mine)
        if missing <= 0:
            return False, None
        per_index = self._job["spec"].get("backoffLimitPerIndex") is not None
        until = None if per_index else record.waits_until()
        if until is not None and until > self._now:
            return False, until
        indexes, later = self._indexes(active, per_index=per_index)
        indexed = self._job["spec"]["completionMode"] == "Indexed"
        chosen: list[int | None] = list(indexes[:missing]) if indexed else [None] * missing
        for index in chosen[:AT_ONCE]:
            pods.create(self._client, self._job, self._new_pod(index))
        return bool(chosen), later

    def _wanted(self, active: int) -> int:
        spec, succeeded = self._job["spec"], self._status.get("succeeded", 0)
        if spec.get("suspend"):
            return 0
        if spec.get("completions") is None:
            return active if succeeded else int(spec["parallelism"])
        remaining: int = spec["completions"] - succeeded
        return max(0, min(int(spec["parallelism"]), remaining))

    def _indexes(
        self, active: Sequence[Object], *, per_index: bool
    ) -> tuple[list[int], datetime | None]:
        """Return the indexes that may be tried now, and when the next of the others may be."""
        failed = expanded(self._status.get("failedIndexes", ""))
        taken = [index_of(one) for one in active] + sorted(failed)
        indexes = list(free_indexes(self._seen, taken))
        if not per_index:
            return indexes, None
        waits = {one: job_failures.index_waits_until(self._mine, one) for one in indexes}
        later = job_failures.soonest(waits.values(), self._now)
        return [one for one, at in waits.items() if at is None or at <= self._now], later

    def _new_pod(self, index: int | None) -> Object:
        pod = new_pod(self._job, index)
        if index is not None and self._job["spec"].get("backoffLimitPerIndex") is not None:
            count = job_failures.failures_of_index(self._mine, index)
            pod["metadata"]["annotations"][job_failures.FAILURE_COUNT] = str(count)
        return pod

    # Reporting

    def _report(self) -> None:
        present = self._client.index("pods", _job_key).of(_key(self._job))
        running = pods.active(present)
        self._status |= {
            "active": len(running) or None,
            "ready": sum(map(pods.is_ready, running)),
            "terminating": sum(is_deleting(one) and not has_ended(one) for one in present),
            "uncountedTerminatedPods": {},
        }
        pods.write_status(self._client.api, JOBS, self._job, self._status)

    def _tell(self, reason: str, message: str, *, is_warning: bool = False) -> None:
        note = Note(reason=reason, message=message, component=_COMPONENT, is_warning=is_warning)
        self._client.events.record(self._job, note)

    def expire(self) -> datetime | None:
        """Delete a finished Job whose time to live is over; return when it is, if to come."""
        seconds = self._job["spec"].get("ttlSecondsAfterFinished")
        ends = (condition_of(self._job, kind) for kind in ("Complete", "Failed"))
        end = next((c for c in ends if c is not None and c["status"] == "True"), None)
        if seconds is None or end is None or is_deleting(self._job):
            return None
        expiry = read_stamp(end.get("lastTransitionTime")) + span_of(seconds)
        if self._now < expiry:
            return expiry
        meta = self._job["metadata"]
        options = DeleteOptions(uid=meta["uid"], propagation="Foreground")
        self._client.api.delete(JOBS, meta["name"], meta["namespace"], options)
        return None


def _key(job: Object) -> str:
    return f"{job['metadata']['namespace']}/{job['metadata']['name']}"


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


def new_pod(job: Object, index: int | None) -> Object:
    """Return a pod of a Job, with an index if the Job counts by them."""
    pod = pods.pod_from(job, job["spec"]["template"])
    pod["metadata"]["finalizers"] = [*(pod["metadata"].get("finalizers") or ()), TRACKING]
    if index is None:
        return pod
    name = f"{job['metadata']['name']}-{index}"
    pod["metadata"]["generateName"] = f"{name}-"
    for member in ("annotations", "labels"):
        pod["metadata"].setdefault(member, {})[INDEX] = str(index)
    pod["spec"]["hostname"] = name
    field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    for kind in ("initContainers", "containers"):
        for container in pod["spec"].get(kind) or ():
            variables = container.setdefault("env", [])
            if not any(one["name"] == _INDEX_VARIABLE for one in variables):
                variables.append({"name": _INDEX_VARIABLE, "valueFrom": field})
    return pod
