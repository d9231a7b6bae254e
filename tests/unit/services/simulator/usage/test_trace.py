"""Usage traces: what each term is worth at an instant, and that they can be repeated."""

from datetime import UTC, datetime, timedelta

import pytest

from libs.domain.errors import InvalidRequest
from services.simulator.core.usage.trace import Moment, parse

MIDNIGHT = datetime(2026, 1, 1, tzinfo=UTC)


def moment(hours: float = 0, age: float = 0, sharers: int = 1, name: str = "a") -> Moment:
    now = MIDNIGHT + timedelta(hours=hours)
    return Moment(now=now, age=age, request=0.5, sharers=sharers, name=name)


@pytest.mark.parametrize(
    ("text", "at", "value"),
    [
        pytest.param("200m", moment(), 0.2, id="constant"),
        pytest.param("50%", moment(), 0.25, id="share of the request"),
        pytest.param("1 + 500m", moment(), 1.5, id="sum"),
        pytest.param("daily(100m, 900m, 14)", moment(14), 0.9, id="peak of the day"),
        pytest.param("daily(100m, 900m, 14)", moment(2), 0.1, id="twelve hours later"),
        pytest.param("steps(0=100m, 60=2)", moment(age=59), 0.1, id="first step"),
        pytest.param("steps(0=100m, 60=2)", moment(age=60), 2, id="second step"),
        pytest.param("steps(60=2)", moment(age=59), 0, id="before the first step"),
        pytest.param("ramp(100Mi, 200Mi, 100)", moment(age=50), 150 * 2**20, id="half way up"),
        pytest.param("ramp(1, 2, 100)", moment(age=500), 2, id="at the top"),
        pytest.param("shared(4)", moment(sharers=8), 0.5, id="shared by all"),
    ],
)
def test_what_a_term_is_worth(text: str, at: Moment, value: float) -> None:
    assert parse(text)(at) == pytest.approx(value)


def test_noise_stays_within_its_bounds_changes_and_can_be_repeated() -> None:
    trace = parse("200m + noise(50m, 7)")
    values = [trace(moment(hours=number / 100)) for number in range(200)]

    assert all(0.15 <= value <= 0.25 for value in values)
    assert len({round(value, 6) for value in values}) > 100
    assert values == [trace(moment(hours=number / 100)) for number in range(200)]
    assert trace(moment()) != parse("200m + noise(50m, 8)")(moment())
    assert trace(moment()) != trace(moment(name="b"))


@pytest.mark.parametrize(
    "text", ["", "much", "daily(1, 2)", "steps(a=1)", "wave(1)", "x%", "noise()", "shared(1, 2)"]
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        parse(text)
