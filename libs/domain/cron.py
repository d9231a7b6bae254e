"""Five-field cron schedules in UTC.

Apart, and our own, because budgets are evaluated in pure code, and because the libraries follow
Debian's cron while Karpenter's schedules follow another dialect: `7` is no weekday, `5/10` means
from 5 on, and only a plain `*` or `?` in one of the two day fields makes the other decide alone
(with `*/2` either suffices).

Source: the standard parser of robfig/cron v3, which `docs/sources.md` 1.4 rests on. One difference
on purpose: a day that no month has (30 February) is an error; there it reads as always active.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from libs.domain.errors import InvalidRequest

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTH_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_LONGEST_MONTH = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
# 29 February comes again after eight years at the latest.
_DAYS_AHEAD = 9 * 366
_VALUE = r"[0-9]{1,4}|[a-z]{3}"
_PART = re.compile(rf"(?P<low>[*?]|{_VALUE})(-(?P<high>{_VALUE}))?(/(?P<step>[0-9]{{1,4}}))?")
_STAR = re.compile(r"[*?](/0*1)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The minutes at which a schedule fires."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    either_day: bool
    """True if the day of the month or the weekday suffices; False if both must match."""

    def next_after(self, instant: datetime) -> datetime:
        """Return the first firing strictly after an instant, in UTC."""
        start = instant.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        for ahead in range(_DAYS_AHEAD):
            day = start.date() + timedelta(days=ahead)
            earliest = start.time() if ahead == 0 else time()
            if self._fires_on(day) and (found := self._first_time(earliest)) is not None:
                return datetime.combine(day, found, UTC)
        raise AssertionError("parse refuses schedules that never fire")

    def _fires_on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_day or by_weekday if self.either_day else by_day and by_weekday

    def _first_time(self, earliest: time) -> time | None:
        for hour in self.hours:
            for minute in self.minutes:
                if (hour, minute) >= (earliest.hour, earliest.minute):
                    return time(hour, minute)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    name: str
    first: int
    last: int
    names: Mapping[str, int]


_FIELDS = (
    _Field(name="minute", first=0, last=59, names={}),
    _Field(name="hour", first=0, last=23, names={}),
    _Field(name="day of month", first=1, last=31, names={}),
    _Field(name="month", first=1, last=12, names={n: i for i, n in enumerate(_MONTH_NAMES, 1)}),
    _Field(name="day of week", first=0, last=6, names={n: i for i, n in enumerate(_DAY_NAMES)}),
)


def parse(text: str) -> Schedule:
    """Return the schedule of five fields or a macro such as `@daily`.

    Raises:
        InvalidRequest: not a schedule, or one that never fires.
    """
    fields = _MACROS.get(text.strip(), text).lower().split()
    if len(fields) != len(_FIELDS):
        raise InvalidRequest(f"{text!r} is neither five cron fields nor a macro such as @daily")
    minutes, hours, days, months, weekdays = (
        _values(field, spec, text) for field, spec in zip(fields, _FIELDS, strict=True)
    )
    either_day = not (_is_star(fields[2]) or _is_star(fields[4]))
    if not either_day and all(min(days) > _LONGEST_MONTH.get(month, 31) for month in months):
        raise InvalidRequest(f"{text!r} never fires: no such day in these months")
    return Schedule(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=weekdays,
        either_day=either_day,
    )


def _is_star(field: str) -> bool:
    return any(_STAR.fullmatch(part) for part in field.split(","))


def _values(field: str, spec: _Field, text: str) -> frozenset[int]:
    values: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None or (match["low"] in ("*", "?") and match["high"]):
            raise InvalidRequest(f"{text!r}: {part!r} is not a {spec.name}")
        low, high = _range(match, spec)
        step = int(match["step"] or 1)
        if not (spec.first <= low <= high <= spec.last) or step == 0:
            raise InvalidRequest(
                f"{text!r}: {part!r} is not a {spec.name} within {spec.first} to {spec.last}"
            )
        values.update(range(low, high + 1, step))
    return frozenset(values)


def _range(match: re.Match[str], spec: _Field) -> tuple[int, int]:
    if match["low"] in ("*", "?"):
        return spec.first, spec.last
    low = _number(match["low"], spec)
    if match["high"]:
        return low, _number(match["high"], spec)
    return low, spec.last if match["step"] else low


def _number(text: str, spec: _Field) -> int:
    # An unknown name is no number of any field.
    return int(text) if text.isdigit() else spec.names.get(text, -1)
