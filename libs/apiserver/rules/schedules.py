"""When a CronJob starts its jobs: what is wrong with a schedule or a time zone.

Source: Kubernetes documentation, "CronJob"; the format is cron's, with Go's names for errors as
kube-apiserver 1.36 gives them.
"""

import re
import zoneinfo
from dataclasses import dataclass
from functools import lru_cache

_DESCRIPTORS = (
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
)
_EVERY = re.compile(r"@every [+-]?(0|(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+")
_PART = re.compile(r"[A-Za-z._0-9+][A-Za-z.\-_0-9+]{0,13}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    lowest: int
    highest: int
    names: tuple[str, ...] = ()
    """Names of the numbers, from the lowest on."""


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIELDS = (
    _Field(lowest=0, highest=59),
    _Field(lowest=0, highest=23),
    _Field(lowest=1, highest=31),
    _Field(lowest=1, highest=12, names=_MONTHS),
    _Field(lowest=0, highest=6, names=("sun", "mon", "tue", "wed", "thu", "fri", "sat")),
)


class _Wrong(ValueError):
    """A part of a schedule that cannot be read."""


def fault(schedule: str) -> str:
    """Return what is wrong with a schedule, empty if nothing is."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        zone, _, schedule = schedule.partition("=")[2].partition(" ")
        if why := zone_fault(zone):
            return f"provided bad location {zone}: {why}"
    try:
        _read(schedule.strip())
    except _Wrong as error:
        return str(error)
    return ""


def _read(schedule: str) -> None:
    if schedule.startswith("@"):
        if schedule not in _DESCRIPTORS and not _EVERY.fullmatch(schedule):
            raise _Wrong(f"unrecognized descriptor: {schedule}")
        return
    parts = schedule.split()
    if len(parts) != len(_FIELDS):
        listing = f"[{' '.join(parts)}]"
        raise _Wrong(f"expected exactly {len(_FIELDS)} fields, found {len(parts)}: {listing}")
    for part, field in zip(parts, _FIELDS, strict=True):
        for interval in part.split(","):
            if interval:
                _read_interval(interval, field)


def _read_interval(text: str, field: _Field) -> None:
    bounds, *steps = text.split("/")
    low, *high = bounds.split("-")
    if low in ("*", "?"):
        start, end = field.lowest, field.highest
    else:
        start = _named(low, field)
        end = _named(high[0], field) if high else start
        if len(high) > 1:
            raise _Wrong(f"too many hyphens: {text}")
    step = _number(steps[0]) if steps else 1
    if len(steps) > 1:
        raise _Wrong(f"too many slashes: {text}")
    if steps and not high:
        end = field.highest
    _check_interval(start, end, step, field, text)


def _check_interval(start: int, end: int, step: int, field: _Field, text: str) -> None:
    if start < field.lowest:
        raise _Wrong(f"beginning of range ({start}) below minimum ({field.lowest}): {text}")
    if end > field.highest:
        raise _Wrong(f"end of range ({end}) above maximum ({field.highest}): {text}")
    if start > end:
        raise _Wrong(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _Wrong(f"step of range should be a positive number: {text}")


def _named(text: str, field: _Field) -> int:
    name = text.lower()
    return field.lowest + field.names.index(name) if name in field.names else _number(text)


def _number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        raise _Wrong(f"failed to parse int from {text}: {why}")
    if int(text) < 0:
        raise _Wrong(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)


def zone_fault(zone: str) -> str:
    """Return what is wrong with the name of a time zone, empty if nothing is."""
    if not zone:
        return "timeZone must be nil or non-empty string"
    parts = zone.split("/")
    if any(part in (".", "..") or not _PART.fullmatch(part) for part in parts):
        return f"unknown time zone {zone}"
    if zone.lower() == "local":
        return (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    zones = _zones()
    return f"unknown time zone {zone}" if zones and zone not in zones else ""


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """Return the time zones that are known here; none at all where there is no database."""
    return frozenset(zoneinfo.available_timezones())
