"""A list of the newest few: for outcomes of which only the last ones say something."""

from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class RingBuffer(Generic[T]):
    """Holds up to `capacity` items; inserting into a full one overwrites the oldest.

    Iterates from the oldest to the newest. Not for use by several threads.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError("a ring buffer holds at least one item")
        self._capacity = capacity
        self._slots: list[T] = []
        self._oldest = 0

    @property
    def capacity(self) -> int:
        """How many items fit."""
        return self._capacity

    def insert(self, item: T) -> None:
        """Add the newest item."""
        if len(self._slots) < self._capacity:
            self._slots.append(item)
            return
        self._slots[self._oldest] = item
        self._oldest = (self._oldest + 1) % self._capacity

    def reset(self) -> None:
        """Forget all items."""
        self._slots.clear()
        self._oldest = 0

    def __iter__(self) -> Iterator[T]:
        yield from self._slots[self._oldest :]
        yield from self._slots[: self._oldest]

    def __len__(self) -> int:
        return len(self._slots)
