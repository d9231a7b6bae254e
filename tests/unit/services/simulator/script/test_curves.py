"""Replicas over time."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.simulator.script.curves import changes, ramp
from services.simulator.script.schema import Point, Span


def a_curve(*points: tuple[int, int]) -> tuple[Point, ...]:
    return tuple(Point(after=Span(seconds=at), replicas=count) for at, count in points)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        pytest.param((), [], id="nothing"),
        pytest.param(((5, 3),), [(5, 3)], id="a point"),
        pytest.param(((0, 1), (10, 1)), [(0, 1)], id="level"),
        pytest.param(((0, 1), (10, 3)), [(0, 1), (5, 2), (10, 3)], id="up"),
        pytest.param(((0, 3), (10, 1)), [(0, 3), (5, 2), (10, 1)], id="down"),
        pytest.param(((0, 0), (2, 100)), [(0, 0), (1, 50), (2, 100)], id="no faster than seconds"),
    ],
)
def test_numbers_change_in_straight_lines(
    points: tuple[tuple[int, int], ...], expected: list[tuple[int, int]]
) -> None:
    found = [(at.total_seconds(), count) for at, count in changes(a_curve(*points))]

    assert found == expected


@given(start=st.integers(0, 5000), end=st.integers(0, 5000), seconds=st.integers(0, 100_000))
def test_a_ramp_goes_one_way_and_arrives(start: int, end: int, seconds: int) -> None:
    found = list(changes(ramp(start, end, timedelta(seconds=seconds))))

    counts = [count for _, count in found]
    assert counts == sorted(counts, reverse=end < start)
    assert counts[-1] == end
    assert found[-1][0] <= timedelta(seconds=seconds)
    instants = [at for at, _ in found]
    assert instants == sorted(set(instants))
