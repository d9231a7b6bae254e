"""Cron schedules: our dialect's peculiarities by table, all else against an independent library."""

from datetime import UTC, datetime, timedelta

import pytest
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from libs.domain import cron
from libs.domain.errors import InvalidRequest

START = datetime(2026, 1, 1, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        pytest.param("* * * * *", "2026-01-01T00:01", "2026-01-01T00:02", id="every minute"),
        pytest.param("@hourly", "2026-01-01T01:00", "2026-01-01T02:00", id="hourly"),
        pytest.param("@daily", "2026-01-02T00:00", "2026-01-03T00:00", id="daily"),
        pytest.param("@midnight", "2026-01-02T00:00", "2026-01-03T00:00", id="midnight"),
        pytest.param("@weekly", "2026-01-04T00:00", "2026-01-11T00:00", id="weekly on Sunday"),
        pytest.param("@monthly", "2026-02-01T00:00", "2026-03-01T00:00", id="monthly"),
        pytest.param("@yearly", "2027-01-01T00:00", "2028-01-01T00:00", id="yearly"),
        pytest.param("@annually", "2027-01-01T00:00", "2028-01-01T00:00", id="annually"),
        pytest.param("0 9 * * MON-FRI", "2026-01-01T09:00", "2026-01-02T09:00", id="weekdays"),
        pytest.param("0 0 1 JAN,jul *", "2026-07-01T00:00", "2027-01-01T00:00", id="months"),
        pytest.param("50/5 * * * *", "2026-01-01T00:50", "2026-01-01T00:55", id="from 50 on"),
        pytest.param("0 0 ? * 3", "2026-01-07T00:00", "2026-01-14T00:00", id="question mark"),
        pytest.param("0 0 13 * 5", "2026-01-02T00:00", "2026-01-09T00:00", id="either day"),
        pytest.param("0 0 */1 * 5", "2026-01-02T00:00", "2026-01-09T00:00", id="step of one"),
        pytest.param("0 0 */20 * 5", "2026-01-02T00:00", "2026-01-09T00:00", id="no plain star"),
        pytest.param("0 0 29 2 *", "2028-02-29T00:00", "2032-02-29T00:00", id="leap days"),
        pytest.param("  0   0 2 1 *  ", "2026-01-02T00:00", "2027-01-02T00:00", id="spaces"),
    ],
)
def test_a_schedule_fires(text: str, first: str, second: str) -> None:
    schedule = cron.parse(text)

    one = schedule.next_after(START)
    other = schedule.next_after(one)

    assert (one, other) == tuple(
        datetime.fromisoformat(f"{instant}+00:00") for instant in (first, second)
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *",
        "* * * 0 *",
        "* * * 13 *", "* * * * 7", "5-1 * * * *", "*/0 * * * *", "a * * * *", "mon * * * *",
        "* * * mon *", "* * * * jan", "1- * * * *", "1,,2 * * * *", "-1 * * * *", "*-5 * * * *",
        "1/2/3 * * * *", "1-2-3 * * * *", "@reboot", "@every 1h", "@Daily", "TZ=UTC * * * * *",
        "0 0 30 2 *", "0 0 31 4,6 *", "\u0661 * * * *", "L * * * *",
    ],
)  # fmt: skip
def test_what_is_no_schedule_or_never_fires_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        cron.parse(text)


def test_seconds_do_not_hide_a_firing() -> None:
    hourly = cron.parse("@hourly")

    assert hourly.next_after(START - timedelta(microseconds=1)) == START
    assert hourly.next_after(START + timedelta(seconds=59)) == START + timedelta(hours=1)


def test_instants_of_other_zones_are_taken_in_utc() -> None:
    tokyo = datetime.fromisoformat("2026-01-01T09:30:00+09:00")

    assert cron.parse("@hourly").next_after(tokyo) == START + timedelta(hours=1)


def fields(first: int, last: int, *, stars_with_steps: bool) -> st.SearchStrategy[str]:
    numbers = st.integers(first, last)
    pairs = st.lists(numbers, min_size=2, max_size=2, unique=True).map(sorted)
    ranges = pairs.map(lambda pair: f"{pair[0]}-{pair[1]}")
    steps = st.tuples(ranges, st.integers(1, 9)).map(lambda s: f"{s[0]}/{s[1]}")
    lists = st.lists(numbers.map(str) | ranges | steps, min_size=1, max_size=3).map(",".join)
    stars = st.integers(1, 9).map(lambda step: f"*/{step}") if stars_with_steps else st.just("*")
    return st.just("*") | lists | stars


@settings(max_examples=60)
@given(
    minute=fields(0, 59, stars_with_steps=True),
    hour=fields(0, 23, stars_with_steps=True),
    day=fields(1, 31, stars_with_steps=False),
    month=fields(1, 12, stars_with_steps=True),
    weekday=fields(0, 6, stars_with_steps=False),
    seconds=st.integers(0, 10 * 366 * 86_400),
)
def test_firings_agree_with_another_implementation(
    minute: str, hour: str, day: str, month: str, weekday: str, seconds: int
) -> None:
    text = f"{minute} {hour} {day} {month} {weekday}"
    try:
        schedule = cron.parse(text)
    except InvalidRequest:
        assume(False)
    instant = START + timedelta(seconds=seconds)
    expected = CronSim(text, instant)

    for _ in range(3):
        instant = schedule.next_after(instant)
        assert instant == next(expected)
