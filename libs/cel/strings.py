r"""CEL's functions on strings: standard, strings extension, Kubernetes' regex library.

Patterns are RE2, as in Kubernetes: `$` is the end of the text, `\d` and `\s` are ASCII.
"""

import zoneinfo
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import re2  # type: ignore[import-untyped]  # the wheel has no stubs

from libs.cel.values import CelError, Value, as_list, check_size

_QUIET = re2.Options()
_QUIET.log_errors = False  # to standard error; the caller is told


@lru_cache(maxsize=1024)
def pattern(source: str) -> Any:
    """Compile an RE2 pattern; raises `CelError` if it is none."""
    try:
        return re2.compile(source, _QUIET)
    except re2.error as error:
        raise CelError(f"error parsing regexp: {source}") from error


def matches(text: Value, source: Value) -> bool:
    """Return whether the pattern matches anywhere in the text."""
    return pattern(_text(source)).search(_text(text)) is not None


def index_of(text: Value, part: Value, start: int = 0) -> int:
    """Return where a part starts at or after `start`, -1 if nowhere."""
    if not 0 <= start <= len(_text(text)):
        raise CelError(f"index out of range: {start}")
    return _text(text).find(_text(part), start)


def last_index_of(text: Value, part: Value, start: int | None = None) -> int:
    """Return where a part starts last, at or before `start`, -1 if nowhere."""
    end = None if start is None else start + len(_text(part))
    return _text(text).rfind(_text(part), 0, end)


def in_zone(instant: datetime, zone: str) -> datetime:
    """Return the instant as wall-clock time of an IANA zone or a fixed offset (`+01:00`)."""
    if zone[:1] in ("+", "-") or zone[:2].isdigit():
        hours, _, minutes = zone.lstrip("+-").partition(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
        return instant.astimezone(timezone(-offset if zone.startswith("-") else offset))
    try:
        return instant.astimezone(zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise CelError(f"unknown time zone {zone}") from error


def double_text(value: float) -> str:
    """Return a double as CEL prints it: no exponent and no trailing `.0` in the usual range."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
    if value == int(value) and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    raise CelError("no such overload")


def _find(text: Value, source: Value) -> str:
    found = pattern(_text(source)).search(_text(text))
    return "" if found is None else str(found.group(0))


def _find_all(text: Value, source: Value, limit: int = -1) -> list[str]:
    found = [match.group(0) for match in pattern(_text(source)).finditer(_text(text))]
    return found if limit < 0 else found[:limit]


def _char_at(text: Value, position: int) -> str:
    if not 0 <= position <= len(_text(text)):
        raise CelError(f"index out of range: {position}")
    return _text(text)[position : position + 1]


def _substring(text: Value, start: int, end: int | None = None) -> str:
    length = len(_text(text))
    stop = length if end is None else end
    if not 0 <= start <= stop <= length:
        raise CelError(f"index out of range: {start if end is None else end}")
    return _text(text)[start:stop]


def _replace(text: Value, old: Value, new: Value, limit: int = -1) -> str:
    whole, found = _text(text), _text(text).count(_text(old))
    check_size(len(whole) + (min(found, limit) if limit >= 0 else found) * len(_text(new)))
    return whole.replace(old, new, limit)


def _split(text: Value, separator: Value, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if _text(separator) == "":
        pieces = list(_text(text))
        return pieces if limit < 0 else [*pieces[: limit - 1], "".join(pieces[limit - 1 :])][:limit]
    return _text(text).split(_text(separator), limit - 1 if limit > 0 else -1)


def _join(items: Value, separator: str = "") -> str:
    texts = [_text(item) for item in as_list(items)]
    check_size(sum(map(len, texts)) + len(texts) * len(_text(separator)))
    return separator.join(texts)


_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _ascii_case(text: Value, *, upper: bool) -> str:
    return "".join(
        (char.upper() if upper else char.lower()) if char.isascii() else char
        for char in _text(text)
    )


MEMBERS: Mapping[str, tuple[frozenset[int], Callable[..., Any]]] = MappingProxyType(
    {
        "matches": (frozenset({2}), matches),
        "contains": (frozenset({2}), lambda text, part: _text(part) in _text(text)),
        "startsWith": (frozenset({2}), lambda text, part: _text(text).startswith(_text(part))),
        "endsWith": (frozenset({2}), lambda text, part: _text(text).endswith(_text(part))),
        "find": (frozenset({2}), _find),
        "findAll": (frozenset({2, 3}), _find_all),
        "charAt": (frozenset({2}), _char_at),
        "substring": (frozenset({2, 3}), _substring),
        "replace": (frozenset({3, 4}), _replace),
        "split": (frozenset({2, 3}), _split),
        "join": (frozenset({1, 2}), _join),
        "trim": (frozenset({1}), lambda text: _text(text).strip(_SPACE)),
        "reverse": (frozenset({1}), lambda text: _text(text)[::-1]),
        "lowerAscii": (frozenset({1}), lambda text: _ascii_case(text, upper=False)),
        "upperAscii": (frozenset({1}), lambda text: _ascii_case(text, upper=True)),
    }
)
