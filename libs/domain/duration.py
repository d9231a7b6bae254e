"""Spans of time as Go and Karpenter write them.

Apart because three grammars look alike: Go's durations (pod annotations), Karpenter's plain ones
(whole hours, minutes and seconds) and its nillable ones (plain, or `Never`).

Law: what Go refuses is refused: no days, no spaces, nothing beyond 2⁶³-1 nanoseconds (292 years).

Source: Go package time, ParseDuration; `docs/sources.md` 1.2.
"""

import re
from datetime import timedelta
from fractions import Fraction

from libs.domain.errors import InvalidRequest

NEVER = "Never"

_NANOS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_PLAIN = re.compile(r"([0-9]+[smh])+")
_LARGEST = 2**63 - 1
_LONGEST_TEXT = 128


def parse_go(text: str) -> timedelta:
    """Return the span that Go's ParseDuration reads, cut to whole microseconds.

    Raises:
        InvalidRequest: not such a text, or too large.
    """
    nanos = parse_go_nanoseconds(text)
    magnitude = timedelta(microseconds=abs(nanos) // 1000)
    return magnitude if nanos >= 0 else -magnitude


def parse_go_nanoseconds(text: str) -> int:
    """Return the nanoseconds that Go's ParseDuration reads: `1h30m`, `-1.5s`, `0`.

    Raises:
        InvalidRequest: not such a text, or too large.
    """
    magnitude = text[1:] if text[:1] in ("-", "+") else text
    if magnitude == "0":
        return 0
    nanos, position = 0, 0
    while position < len(magnitude) <= _LONGEST_TEXT:
        part = _PART.match(magnitude, position)
        if part is None or not (part[1] or part[2]):
            break
        fraction = part[2] or ""
        amount = Fraction(int(part[1] + fraction or "0"), 10 ** len(fraction))
        nanos += int(amount * _NANOS[part[3]])
        position = part.end()
    if not magnitude or position != len(magnitude):
        raise InvalidRequest(f"{text[:_LONGEST_TEXT]!r} is not a duration such as 30m or 1h30m")
    if nanos > _LARGEST:
        raise InvalidRequest(f"{text!r} is longer than the longest duration, 292 years")
    return -nanos if text[0] == "-" else nanos


def parse_plain(text: str) -> timedelta:
    """Return a span that must consist of whole hours, minutes and seconds: `720h`, `1h30m`.

    Raises:
        InvalidRequest: anything else.
    """
    if not _PLAIN.fullmatch(text):
        raise InvalidRequest(f"{text!r} is not a duration of hours, minutes and seconds")
    return parse_go(text)


def parse_nillable(text: str) -> timedelta | None:
    """Return a plain span, or `None` for `Never`.

    Raises:
        InvalidRequest: anything else.
    """
    return None if text == NEVER else parse_plain(text)
