"""Turns: which group is tried next, and which ones rest until something may help them.

Apart from packing because nothing is placed here. Were everybody tried again after each placement,
time would be quadratic as soon as pods wait for each other; so who is refused rests until what it
is refused by has changed.

Laws:
    - Groups come in one order, and nobody comes twice in a round.
    - Who is woken by a group that comes before it comes in the same round; else in the next.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from heapq import heapify, heappop, heappush

from services.solver.core.tally import Tally


class Event(StrEnum):
    """What may help a group besides pods that it looks at."""

    PLACED = "placed"
    """Any pod has got a place."""
    OPENED = "opened"
    """There is a new claim."""
    BECOME = "become"
    """A claim has become something that none was before."""


Cause = Tally | Event
"""What may help a group: that a tally counts more pods, or an event."""


class Turns:
    """The turns of some groups."""

    __slots__ = ("_at", "_groups", "_next", "_rank", "_resting", "_round", "_waiting")

    def __init__(self, groups: Sequence[int]) -> None:
        self._groups = groups
        self._rank = {index: rank for rank, index in enumerate(groups)}
        self._round: list[int] = []
        """A heap of ranks."""
        self._next: list[int] = []
        self._at = -1
        """The rank of the group whose turn it is."""
        self._resting: set[int] = set()
        self._waiting: dict[Cause, set[int]] = defaultdict(set)
        """Ranks that rest by what may help them; some of them may be awake again."""

    def begin(self, groups: Iterable[int]) -> None:
        """Give a turn to these groups; only once nobody has one."""
        self._next = [self._rank[index] for index in groups]
        self._resting.difference_update(self._next)

    def next(self) -> int | None:
        """Return the group whose turn it is now; None if there is none."""
        if not self._round:
            self._round, self._next = self._next, []
            heapify(self._round)
        if not self._round:
            return None
        self._at = heappop(self._round)
        return self._groups[self._at]

    def rest(self, index: int, causes: Iterable[Cause]) -> None:
        """Let a group rest after its turn until one of these may help it."""
        rank = self._rank[index]
        self._resting.add(rank)
        for cause in causes:
            self._waiting[cause].add(rank)

    def wake(self, causes: Iterable[Cause]) -> None:
        """Give a turn to all groups that one of these may help."""
        for cause in causes:
            for rank in self._waiting.pop(cause, ()):
                if rank in self._resting:
                    self._resting.remove(rank)
                    if rank > self._at:
                        heappush(self._round, rank)
                    else:
                        self._next.append(rank)
