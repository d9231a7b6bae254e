"""Durations in Go's, Karpenter's plain and Karpenter's nillable form."""

from datetime import timedelta

import pytest

from libs.domain import duration
from libs.domain.errors import InvalidRequest


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("0", 0), ("-0", 0), ("5s", 5 * 10**9), ("1h30m", 5400 * 10**9), ("1.5h", 5400 * 10**9),
        (".5s", 5 * 10**8), ("1.s", 10**9), ("-1m", -60 * 10**9), ("+1m", 60 * 10**9),
        ("3ns", 3), ("3us", 3000), ("3µs", 3000), ("3\u03bcs", 3000), ("3ms", 3 * 10**6),
        ("1s1h", 3601 * 10**9), ("0.1ns", 0), ("9223372036854775807ns", 2**63 - 1),
    ],
)  # fmt: skip
def test_go_durations(text: str, nanos: int) -> None:
    assert duration.parse_go_nanoseconds(text) == nanos


@pytest.mark.parametrize(
    "text",
    [
        "", "-", "+", "1", "1d", "s", ".s", "1h ", " 1h", "1 h", "1h30", "1H", "--1h", "1e3s",
        "1h\n",
        "Never", "9223372036854775808ns", "2562048h", "1" * 200 + "h", "\u0661s",
    ],
)  # fmt: skip
def test_what_go_refuses_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        duration.parse_go(text)


@pytest.mark.parametrize("text", ["-1h", "1.5h", "1ms", "1d", "0", "", "never", "1h\n"])
def test_plain_and_nillable_durations_are_narrower(text: str) -> None:
    with pytest.raises(InvalidRequest):
        duration.parse_plain(text)
    with pytest.raises(InvalidRequest):
        duration.parse_nillable(text)


def test_never_is_no_duration() -> None:
    assert duration.parse_nillable("Never") is None
    assert duration.parse_nillable("720h") == timedelta(days=30)
