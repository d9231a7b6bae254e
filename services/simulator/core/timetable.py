"""Keys with the instants at which they are due: the work queue of everything that steps.

Laws: a key is in it once; keys come out by instant, then in the order in which they were put in.
"""

import heapq
from collections.abc import Hashable
from datetime import datetime
from itertools import count
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

AT_ONCE = 64
"""How many keys are taken at a time: some 20 ms of a kubelet's work."""


class Timetable(Generic[K]):
    """When which key is due. Complexity: O(log n) for each change."""

    def __init__(self) -> None:
        self._due: dict[K, tuple[datetime, int]] = {}
        self._heap: list[tuple[datetime, int, K]] = []
        self._order = count()

    def put(self, key: K, when: datetime) -> None:
        """Let a key be due at `when`, whatever held for it before."""
        entry = (when, next(self._order))
        self._due[key] = entry
        heapq.heappush(self._heap, (*entry, key))

    def hasten(self, key: K, when: datetime) -> None:
        """Let a key be due at `when` unless it is due earlier."""
        known = self._due.get(key)
        if known is None or when < known[0]:
            self.put(key, when)

    def drop(self, key: K) -> None:
        """Forget a key, if it is there."""
        self._due.pop(key, None)

    def is_due(self, key: K, now: datetime) -> bool:
        """Tell whether a key is in it and due."""
        known = self._due.get(key)
        return known is not None and known[0] <= now

    def take(self, now: datetime) -> list[K]:
        """Remove and return the keys that are due, the first `AT_ONCE` of them.

        More would keep requests waiting: what is left is due still, and says so by `next`.
        """
        taken: list[K] = []
        while len(taken) < AT_ONCE and (when := self.next()) is not None and when <= now:
            key = heapq.heappop(self._heap)[2]
            del self._due[key]
            taken.append(key)
        return taken

    def next(self) -> datetime | None:
        """Return the instant at which the next key is due, None if there is no key."""
        while self._heap:
            when, order, key = self._heap[0]
            if self._due.get(key) == (when, order):
                return when
            heapq.heappop(self._heap)
        return None
