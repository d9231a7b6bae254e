"""How many replicas one metric asks for: pure arithmetic on the pods' usage.

Pods that are not ready count as idle when more are asked for, pods without metrics as idle then and
as busy when fewer are: what is not known never makes a change larger.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling: Algorithm details"; the defaults of
kube-controller-manager 1.36.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.objects import condition_of, is_deleting, read_stamp

_CPU_INITIALIZATION = timedelta(minutes=5)
_FIRST_READINESS = timedelta(seconds=30)
_WINDOW = timedelta(seconds=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a metric shall be: a share of the requests, or an average value."""

    percent: int | None = None
    average: float | None = None
    """In milli-units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """How far from the target nothing is done, as shares."""

    up: float = 0.1
    down: float = 0.1

    def covers(self, ratio: float) -> bool:
        """Tell whether a ratio of usage to target is close enough to one."""
        return 1 - self.down <= ratio <= 1 + self.up


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What is known of one pod, in milli-units."""

    used: float | None
    """None if nothing is known."""
    requested: float
    is_ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a metric asks for."""

    replicas: int
    average: float
    """Usage of a pod in milli-units."""
    percent: int | None


def is_ready_for(resource: str, pod: Mapping[str, Any], now: datetime) -> bool:
    """Tell whether a pod's usage of a resource says something: cpu at the start does not."""
    if pod["status"].get("phase") == "Pending":
        return False
    if resource != "cpu":
        return True
    ready, start = condition_of(pod, "Ready"), pod["status"].get("startTime")
    if ready is None or start is None:
        return False
    changed, started = read_stamp(ready.get("lastTransitionTime")), read_stamp(start)
    if started + _CPU_INITIALIZATION > now:
        return bool(ready["status"] != "False" and now >= changed + _WINDOW)
    return bool(ready["status"] != "False" or started + _FIRST_READINESS <= changed)


def counts(pod: Mapping[str, Any]) -> bool:
    """Tell whether a pod is looked at at all."""
    return not is_deleting(pod) and pod["status"].get("phase") != "Failed"


def propose(
    samples: Sequence[Sample], target: Target, tolerance: Tolerance, current: int
) -> Proposal:
    """Return how many replicas are wanted.

    Raises:
        InvalidRequest: nothing is known of any pod.
    """
    known = [one for one in samples if one.is_ready and one.used is not None]
    missing = [one for one in samples if one.used is None and one.is_ready]
    unready = [one for one in samples if not one.is_ready]
    if not known:
        raise InvalidRequest("did not receive metrics for targeted pods (pods might be unready)")
    used = [one.used or 0.0 for one in known]
    ratio, percent = _ratio(used, [one.requested for one in known], target)
    average = sum(used) / len(used)

    def answer(replicas: int) -> Proposal:
        return Proposal(replicas=replicas, average=average, percent=percent)

    fills_up = bool(unready) and ratio > 1
    if not fills_up and not missing:
        return answer(current if tolerance.covers(ratio) else _ceil(ratio * len(known)))
    others = [(_guess(one, target, ratio), one.requested) for one in missing if ratio != 1]
    others += [(0.0, one.requested) for one in unready if fills_up]
    used += [value for value, _request in others]
    requests = [one.requested for one in known] + [request for _value, request in others]
    guessed, _percent = _ratio(used, requests, target)
    turned = (ratio < 1 < guessed) or (guessed < 1 < ratio)
    if tolerance.covers(guessed) or turned:
        return answer(current)
    wanted = _ceil(guessed * len(used))
    if (guessed < 1 and wanted > current) or (guessed > 1 and wanted < current):
        return answer(current)
    return answer(wanted)


def _ratio(
    used: Sequence[float], requests: Sequence[float], target: Target
) -> tuple[float, int | None]:
    """Return usage over target, and the usage as a share of the requests if that is the target."""
    if target.percent is None:
        assert target.average is not None
        return sum(used) / len(used) / target.average, None
    total = sum(requests)
    if not total:
        raise InvalidRequest("no metrics returned matched known pods")
    percent = int(sum(used) * 100 / total)
    return percent / target.percent, percent


def _guess(sample: Sample, target: Target, ratio: float) -> float:
    if ratio > 1:
        return 0.0
    if target.percent is None:
        return target.average or 0.0
    return sample.requested * max(100, target.percent) / 100


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-9)
