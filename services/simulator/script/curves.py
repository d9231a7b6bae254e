"""Replicas over time: the instants at which a ramp or a curve asks for another number of pods.

Pure arithmetic, apart from the player because it is easy to get wrong by one.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

from services.simulator.script.schema import Point, Span

AT_ONCE = timedelta()
_FINEST = timedelta(seconds=1)
"""No load changes faster than people and autoscalers look."""


def changes(points: Sequence[Point]) -> Iterator[tuple[timedelta, int]]:
    """Yield when the number changes, since the first instant, and to what; instants ascend.

    Between two points the number goes in straight lines, by ones where there is time for it, at
    most once a second; each point's own number is reached at its own instant.
    """
    if not points:
        return
    yield points[0].after, points[0].replicas
    for here, there in pairwise(points):
        yield from _between(here, there)


def ramp(start: int, end: int, over: timedelta) -> tuple[Point, ...]:
    """Return the curve of an even change."""
    if over <= AT_ONCE:
        return (Point(after=Span(), replicas=end),)
    return (
        Point(after=Span(), replicas=start),
        Point(after=Span(seconds=over.total_seconds()), replicas=end),
    )


def _between(here: Point, there: Point) -> Iterator[tuple[timedelta, int]]:
    difference = there.replicas - here.replicas
    if difference == 0:
        return
    span = there.after - here.after
    steps = min(abs(difference), max(1, span // _FINEST))
    for step in range(1, steps + 1):
        # Whole numbers: floats would round differently on the way up and on the way down.
        replicas = here.replicas + _rounded(difference * step, steps)
        yield here.after + span * step / steps, replicas


def _rounded(numerator: int, denominator: int) -> int:
    """Return the quotient rounded to the nearest, halves away from zero."""
    sign = -1 if numerator < 0 else 1
    return sign * ((2 * abs(numerator) + denominator) // (2 * denominator))
