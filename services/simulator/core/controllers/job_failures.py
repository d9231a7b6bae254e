"""What a pod that failed means for its Job: the failure policy, and how long to wait; pure.

Source: Kubernetes documentation, "Jobs: Pod failure policy, Pod backoff failure policy, Backoff
limit per index".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from services.simulator.core.controllers.job_indexes import INDEX
from services.simulator.core.objects import (
    Object,
    condition_of,
    has_ended,
    is_deleting,
    read_stamp,
    span_of,
)
from services.simulator.core.part import earliest

FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"

_FIRST_WAIT = timedelta(seconds=10)
_LAST_WAIT = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the failure policy of a Job makes of a failed pod."""

    action: str = "Count"
    """`Count`, `Ignore`, `FailIndex` or `FailJob`."""
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Failures since the last success."""

    failures: int = 0
    last: datetime | None = None

    def with_ended(self, pods: Iterable[Object]) -> "Record":
        """Return the record with pods that ended since."""
        record = self
        for pod in sorted(pods, key=finished_at):
            if pod["status"].get("phase") == "Succeeded":
                record = Record()
            else:
                record = Record(failures=record.failures + 1, last=finished_at(pod))
        return record

    def waits_until(self) -> datetime | None:
        """Return when the next pod may be made, None if at once."""
        if not self.failures or self.last is None:
            return None
        factor: int = 2 ** min(self.failures - 1, 10)
        return self.last + min(_FIRST_WAIT * factor, _LAST_WAIT)


def judge(job: Mapping[str, Any], pod: Object) -> Verdict:
    """Return what the first rule that matches a failed pod says."""
    policy = job["spec"].get("podFailurePolicy") or {}
    for number, rule in enumerate(policy.get("rules") or ()):
        what = _matched(rule, pod)
        if what is None:
            continue
        action = rule["action"]
        message = f"{what} matching {action} rule at index {number}" if action == "FailJob" else ""
        return Verdict(action=action, message=message)
    return Verdict()


def _matched(rule: Mapping[str, Any], pod: Object) -> str | None:
    """Return in words what of a pod matches a rule, None if nothing does."""
    title = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    if (wanted := rule.get("onExitCodes")) is not None:
        for kind in ("containerStatuses", "initContainerStatuses"):
            for entry in pod["status"].get(kind) or ():
                code = ((entry.get("state") or {}).get("terminated") or {}).get("exitCode", 0)
                if code and _is_meant(wanted, entry["name"], code):
                    name = entry["name"]
                    return f"Container {name} for pod {title} failed with exit code {code}"
        return None
    for condition in pod["status"].get("conditions") or ():
        for pattern in rule.get("onPodConditions") or ():
            if all(condition[key] == pattern[key] for key in ("type", "status")):
                return f"Pod {title} has condition {condition['type']}"
    return None


def _is_meant(wanted: Mapping[str, Any], container: str, code: int) -> bool:
    if wanted.get("containerName") not in (None, container):
        return False
    return bool((code in wanted["values"]) == (wanted["operator"] == "In"))


def finished_at(pod: Object) -> datetime:
    """Return when a pod ended: its last container, its unreadiness, its deletion, its creation."""
    ends = [
        ((entry.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for entry in pod["status"].get("containerStatuses") or ()
    ]
    if ends and all(ends):
        return max(map(read_stamp, ends))
    ready = condition_of(pod, "Ready")
    if ready is not None and ready["status"] == "False" and ready.get("lastTransitionTime"):
        return read_stamp(ready["lastTransitionTime"])
    meta = pod["metadata"]
    if is_deleting(pod):
        grace = span_of(meta.get("deletionGracePeriodSeconds") or 0)
        return read_stamp(meta["deletionTimestamp"]) - grace
    return read_stamp(meta["creationTimestamp"])


def index_of(pod: Mapping[str, Any]) -> int:
    """Return the completion index of a pod, 0 if it has none."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    return int(text) if text.isdecimal() else 0


def failures_of_index(pods: Iterable[Object], index: int) -> int:
    """Return how often an index has failed, as its pods tell."""
    counts = [
        _count_before(pod) + 1
        for pod in pods
        if index_of(pod) == index and pod["status"].get("phase") == "Failed"
    ]
    return max(counts, default=0)


def _count_before(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(FAILURE_COUNT, "")
    return int(text) if text.isdecimal() else 0


def index_waits_until(pods: Iterable[Object], index: int) -> datetime | None:
    """Return when an index may be tried again, None if at once."""
    failed = [
        pod for pod in pods if index_of(pod) == index and pod["status"].get("phase") == "Failed"
    ]
    if not failed:
        return None
    last = max(map(finished_at, failed))
    return Record(failures=failures_of_index(failed, index), last=last).waits_until()


def restarts(pods: Iterable[Object]) -> int:
    """Return how often the containers of pods that have not ended were restarted."""
    return sum(
        entry.get("restartCount", 0)
        for pod in pods
        if not has_ended(pod)
        for kind in ("containerStatuses", "initContainerStatuses")
        for entry in pod["status"].get(kind) or ()
    )


def soonest(instants: Iterable[datetime | None], now: datetime) -> datetime | None:
    """Return the first instant that is ahead."""
    return earliest(*(one for one in instants if one is not None and one > now))
