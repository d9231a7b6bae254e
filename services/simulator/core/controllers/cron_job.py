"""CronJobs: a Job at each time of the schedule, as the concurrency policy allows, and a history.

Source: Kubernetes documentation, "CronJob".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.frozen import thaw
from services.simulator.core.client import Client, controller_uid
from services.simulator.core.controllers import cron_times, pods
from services.simulator.core.controllers.controller import Controller, its_controller, itself
from services.simulator.core.controllers.cron_times import Due
from services.simulator.core.controllers.job import JOBS
from services.simulator.core.events import Note
from services.simulator.core.objects import (
    Object,
    is_deleting,
    is_true,
    owner_reference,
    read_stamp,
    span_of,
    split_key,
    stamp,
)

CRON_JOBS = "cronjobs.batch"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"

_COMPONENT = "cronjob-controller"
_PADDING = timedelta(milliseconds=100)


def cron_job_controller(client: Client) -> Controller:
    """Return the controller of CronJobs."""
    owned = client.index(JOBS, controller_uid)

    def reconcile(key: str, now: datetime) -> datetime | None:
        namespace, name = split_key(key)
        cron_job = client.api.find(CRON_JOBS, name, namespace)
        if cron_job is None:
            return None
        jobs = owned.of(cron_job["metadata"]["uid"])
        work = _Work(client, cron_job, now)
        work.take_stock(jobs)
        again = None if is_deleting(cron_job) else work.start_what_is_due()
        work.clean_up(jobs)
        pods.write_status(client.api, CRON_JOBS, cron_job, work.status)
        return again

    sources = {CRON_JOBS: itself, JOBS: its_controller("CronJob")}
    return Controller("cronjob", client, sources, reconcile)


class _Work:
    """What is done for one CronJob at one instant; its status as it becomes."""

    def __init__(self, client: Client, cron_job: Object, now: datetime) -> None:
        self.status: Object = thaw(cron_job["status"])
        self._client = client
        self._cron_job = cron_job
        self._now = now

    def take_stock(self, jobs: Sequence[Object]) -> None:
        """Take out of the active list what has finished or gone."""
        present = {job["metadata"]["uid"]: job for job in jobs}
        active = []
        for reference in self.status.get("active") or ():
            job = present.get(reference["uid"])
            if job is None:
                self._tell("MissingJob", f"Active job went missing: {reference['name']}")
            elif (end := _end_of(job)) is not None:
                what = f"Saw completed job: {reference['name']}, condition: {end}"
                self._tell("SawCompletedJob", what)
            else:
                active.append(reference)
        self._set_active(active)
        done = [
            job["status"]["completionTime"]
            for job in jobs
            if is_true(job, "Complete") and "completionTime" in job["status"]
        ]
        if done:
            known = self.status.get("lastSuccessfulTime")
            self.status["lastSuccessfulTime"] = max([*done, *([known] if known else [])])

    def _set_active(self, active: Sequence[Object]) -> None:
        self.status.pop("active", None)
        if active:
            self.status["active"] = list(active)

    def start_what_is_due(self) -> datetime | None:
        """Start the Job of the last firing, if it may; return when to look again."""
        spec = self._cron_job["spec"]
        if spec.get("suspend"):
            return None
        try:
            schedule = cron_times.schedule_of(spec)
        except InvalidRequest as error:
            what = f'unparseable schedule: "{spec["schedule"]}" : {error}'
            self._tell("UnparseableSchedule", what, is_warning=True)
            return None
        due = cron_times.due({**self._cron_job, "status": self.status}, schedule, self._now)
        if due.latest is not None:
            self._consider(due, due.latest)
        return due.next + _PADDING

    def _consider(self, due: Due, scheduled: datetime) -> None:
        if due.many_missed:
            why = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or "
            self._tell("TooManyMissedTimes", f"{why}check clock skew", is_warning=True)
        spec, name = self._cron_job["spec"], self._job_name(scheduled)
        deadline = spec.get("startingDeadlineSeconds")
        if deadline is not None and scheduled + span_of(deadline) < self._now:
            when = scheduled.strftime("%a, %d %b %Y %H:%M:%S +0000")
            self._tell("MissSchedule", f"Missed scheduled time to start a job: {when}", True)
            return
        active = self.status.get("active") or ()
        last = self.status.get("lastScheduleTime")
        if any(one["name"] == name for one in active) or last == stamp(scheduled):
            return
        if active and spec["concurrencyPolicy"] == "Forbid":
            why = "prior execution is running and concurrency policy is Forbid"
            self._tell("JobAlreadyActive", f"Not starting job because {why}")
            return
        if spec["concurrencyPolicy"] == "Replace":
            for reference in active:
                self._delete(reference["name"], reference["uid"])
            self._set_active([])
        self._start(name, scheduled)

    def _job_name(self, scheduled: datetime) -> str:
        return f"{self._cron_job['metadata']['name']}-{int(scheduled.timestamp()) // 60}"

    def _start(self, name: str, scheduled: datetime) -> None:
        meta, template = self._cron_job["metadata"], self._cron_job["spec"]["jobTemplate"]
        zone = cron_times.zone_of(self._cron_job["spec"])
        above = template.get("metadata") or {}
        local = scheduled.astimezone(zone).isoformat().replace("+00:00", "Z")
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": name,
                "namespace": meta["namespace"],
                "labels": dict(above.get("labels") or {}),
                "annotations": {**(above.get("annotations") or {}), SCHEDULED: local},
                "ownerReferences": [owner_reference(self._cron_job)],
            },
            "spec": thaw(template["spec"]),
        }
        try:
            made = self._client.api.create(JOBS, job)
        except ApiError as error:
            known = self._client.api.find(JOBS, name, meta["namespace"])
            if known is None or controller_uid(known) != meta["uid"]:
                self._tell("FailedCreate", f"Error creating job: {error}", is_warning=True)
                raise
            made = known
        else:
            self._tell("SuccessfulCreate", f"Created job {name}")
        self._set_active([*(self.status.get("active") or ()), _reference(made)])
        self.status["lastScheduleTime"] = stamp(scheduled)

    def clean_up(self, jobs: Sequence[Object]) -> None:
        """Delete the oldest finished Jobs beyond the history that is kept."""
        spec = self._cron_job["spec"]
        limits = (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit"))
        for end, member in limits:
            finished = sorted(
                (job for job in jobs if _end_of(job) == end and not is_deleting(job)), key=_age
            )
            if (limit := spec.get(member)) is not None:
                for job in finished[: max(0, len(finished) - limit)]:
                    self._delete(job["metadata"]["name"], job["metadata"]["uid"])

    def _delete(self, name: str, uid: str) -> None:
        options = DeleteOptions(uid=uid, propagation="Background")
        namespace = self._cron_job["metadata"]["namespace"]
        if self._client.api.find(JOBS, name, namespace) is not None:
            self._client.api.delete(JOBS, name, namespace, options)
        self._tell("SuccessfulDelete", f"Deleted job {name}")

    def _tell(self, reason: str, message: str, is_warning: bool = False) -> None:
        note = Note(reason=reason, message=message, component=_COMPONENT, is_warning=is_warning)
        self._client.events.record(self._cron_job, note)


def _end_of(job: Mapping[str, Any]) -> str | None:
    return next((end for end in ("Complete", "Failed") if is_true(job, end)), None)


def _age(job: Object) -> tuple[datetime, str]:
    return read_stamp(job["status"].get("startTime")), job["metadata"]["name"]


def _reference(job: Object) -> Object:
    meta = job["metadata"]
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "name": meta["name"],
        "namespace": meta["namespace"],
        "uid": meta["uid"],
        "resourceVersion": meta["resourceVersion"],
    }
