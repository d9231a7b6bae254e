"""Two ways to choose, for strategies that draw many small things one after the other."""

from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


def pick(draw: st.DrawFn, *values: T) -> T:
    """Return one of the values; the first is the plainest."""
    return draw(st.sampled_from(values))


def some_of(draw: st.DrawFn, values: tuple[T, ...], most: int | None = None) -> list[T]:
    """Return one or more different values."""
    return draw(st.lists(st.sampled_from(values), min_size=1, max_size=most, unique=True))


def chance(draw: st.DrawFn, percent: int) -> bool:
    """Return True in so many of a hundred draws; what is shrunk is False."""
    return draw(st.integers(1, 100)) > 100 - percent
