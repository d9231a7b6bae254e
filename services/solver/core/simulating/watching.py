"""Looks, while many pods are gone through, whether anybody still waits for what comes of it.

Apart because every step of a what-if has such loops, and none is to go on for long once its caller
has gone: at most for as many pods as are between two looks.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from libs.domain.errors import Unavailable

PODS_BETWEEN = 4096
"""Some ten milliseconds of work."""

T = TypeVar("T")
Cancelled = Callable[[], bool]


def watched(items: Iterable[T], cancelled: Cancelled) -> Iterator[T]:
    """Yield the items; look before the first, and now and then.

    Raises:
        Unavailable: `cancelled` said so.
    """
    look(cancelled)
    for number, item in enumerate(items, start=1):
        yield item
        if number % PODS_BETWEEN == 0:
            look(cancelled)


def look(cancelled: Cancelled) -> None:
    """Go on only if anybody waits.

    Raises:
        Unavailable: `cancelled` said that nobody does.
    """
    if cancelled():
        raise Unavailable("the caller has gone away")
