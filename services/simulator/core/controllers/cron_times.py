"""When a CronJob is due: its schedule in its time zone, and the times that were missed. Pure.

Source: Kubernetes documentation, "CronJob"; kube-controller-manager 1.36.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from libs.domain import cron
from libs.domain.errors import InvalidRequest
from services.simulator.core.objects import (
    read_stamp,
    span_of,
)

_TOO_MANY = 100
_EVERY = re.compile(r"@every (?P<span>.+)")
_PART = re.compile(r"(?P<number>\d+\.?\d*|\.\d+)(?P<unit>ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}

Next = Callable[[datetime], datetime]
"""Returns the first firing after an instant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What a schedule asks for at an instant."""

    latest: datetime | None
    """The last firing since the last start, None if there was none."""
    next: datetime
    """The first firing after now."""
    many_missed: bool


def zone_of(spec: Mapping[str, Any]) -> tzinfo:
    """Return the time zone of a CronJob; raises InvalidRequest."""
    name = spec.get("timeZone")
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError) as error:
        raise InvalidRequest(f'"{name}" is no time zone', field="spec.timeZone") from error


def schedule_of(spec: Mapping[str, Any]) -> Next:
    """Return the schedule of a CronJob; raises InvalidRequest."""
    text = spec["schedule"].strip()
    if match := _EVERY.fullmatch(text):
        span = _span(match["span"])
        return lambda instant: (instant + span).replace(microsecond=0)
    schedule, zone = cron.parse(text), zone_of(spec)

    def after(instant: datetime) -> datetime:
        # The schedule is one of wall clocks; where these are put forward, what they skip is late.
        wall = instant.astimezone(zone).replace(tzinfo=UTC, fold=0)
        while True:
            wall = schedule.next_after(wall)
            found = wall.replace(tzinfo=zone).astimezone(UTC)
            if found > instant:
                return found

    return after


def _span(text: str) -> timedelta:
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text:
        raise InvalidRequest(f'"{text}" is no span of time', field="spec.schedule")
    seconds = sum(float(part["number"]) * _UNITS[part["unit"]] for part in parts)
    return span_of(max(1, int(seconds)))


def due(cron_job: Mapping[str, Any], after: Next, now: datetime) -> Due:
    """Return which firing is due of those since the last start, and the next one."""
    status, spec = cron_job["status"], cron_job["spec"]
    earliest = read_stamp(
        status.get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
    )
    deadline = spec.get("startingDeadlineSeconds")
    if deadline is not None:
        earliest = max(earliest, now - span_of(deadline))
    first = after(earliest)
    if first > now:
        return Due(latest=None, next=first, many_missed=False)
    period = after(first) - first
    missed = int((now - first) / period) + 1
    latest, upcoming = first, after(max(first, first + period * (missed - 2)))
    while upcoming <= now:
        latest, upcoming = upcoming, after(upcoming)
    return Due(latest=latest, next=upcoming, many_missed=missed > _TOO_MANY)
