"""Which pod is scheduled next, which wait for their back-off, and which for a change.

Laws: of the pods ready to be tried, the one with the highest priority comes first, then the one
that was queued first, then the one seen first. A pod that was refused and is then helped waits for
its back-off, from a second up to ten, but is tried before if nothing else is to be tried.

Source: kube-scheduler's scheduling queue with its default configuration (1.36).
"""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from libs.oracle.pods import Pod
from services.simulator.core.part import earliest

DEFAULT_SCHEDULER = "default-scheduler"

_FIRST_BACKOFF = timedelta(seconds=1)
_LONGEST_BACKOFF = timedelta(seconds=10)
_LEFT_OVER = timedelta(minutes=5)
"""How long a pod is parked at most without being tried."""

_PAUSE = timedelta(milliseconds=100)
"""Between two attempts at a pod at least, so that a loop of help and refusal leaves room."""

_Rank = tuple[int, datetime, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A pod that found no place."""

    pod: Pod
    plugins: frozenset[str]
    """Those that refused it somewhere."""


@dataclass(slots=True)
class _Entry:
    """What is known of a pod while it is in the queue."""

    uid: str
    order: int
    priority: int
    since: datetime
    """When it was queued, or found no place for the last time."""
    refusals: int = 0
    errors: int = 0
    turn: int = 0
    """Counts how often it was moved: what a heap says of an earlier turn is void."""
    parked: Parked | None = None

    @property
    def rank(self) -> _Rank:
        return -self.priority, self.since, self.order

    @property
    def backoff_ends(self) -> datetime:
        number = self.errors or self.refusals
        if not number:
            return self.since
        doubled: timedelta = _FIRST_BACKOFF * 2 ** min(number - 1, 10)
        return self.since + min(doubled, _LONGEST_BACKOFF)


class SchedulingQueue:
    """Pods by key: ready to be tried, backing off, or parked until something changes."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._ready: list[tuple[_Rank, int, str]] = []
        self._waiting: list[tuple[datetime, _Rank, int, str]] = []
        self._parked: dict[str, None] = {}
        """In the order in which they were parked."""
        self._order = count()
        self._turns = count(1)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def push(self, key: str, pod: Mapping[str, Any], priority: int, now: datetime) -> None:
        """Let a pod be tried that is new or has changed."""
        uid = pod["metadata"]["uid"]
        entry = self._entries.get(key)
        if entry is None or entry.uid != uid:
            entry = _Entry(uid, next(self._order), priority, now)
            self._entries[key] = entry
        entry.priority = priority
        self._make_ready(key, entry)

    def pop(self, now: datetime) -> str | None:
        """Return the key of the pod to be tried next; `park`, `back_off` or `drop` it then."""
        for key in self._due(now):
            self._make_ready(key, self._entries[key])
        while self._ready:
            _, turn, key = heapq.heappop(self._ready)
            if self._is_turn(key, turn):
                return key
        self._skim()
        if self._waiting:
            _, _, _, key = self._waiting[0]
            entry = self._entries[key]
            if not entry.errors and entry.since + _PAUSE <= now:
                heapq.heappop(self._waiting)
                return key
        return None

    def park(self, key: str, parked: Parked, now: datetime) -> None:
        """Keep a pod that found no place until something may have helped it."""
        entry = self._entries[key]
        entry.refusals += 1
        entry.errors = 0
        entry.since, entry.parked, entry.turn = now, parked, next(self._turns)
        self._parked.pop(key, None)
        self._parked[key] = None

    def back_off(self, key: str, now: datetime) -> None:
        """Try a pod again later whose attempt failed, not for want of a place."""
        entry = self._entries[key]
        entry.errors += 1
        entry.since = now
        self._wait(key, entry)

    def parked(self) -> Iterator[tuple[str, Parked]]:
        """Yield the pods that wait for a change, those first that wait longest."""
        for key in list(self._parked):
            parked = self._entries[key].parked
            if parked is not None:
                yield key, parked

    def wake(self, key: str) -> None:
        """Let a parked pod be tried once its back-off is over."""
        if key in self._parked:
            self._wait(key, self._entries[key])

    def drop(self, key: str) -> None:
        """Forget a pod."""
        self._entries.pop(key, None)
        self._parked.pop(key, None)

    def next(self, now: datetime) -> datetime | None:
        """Return when a pod may be tried next, None if all wait for changes."""
        if any(self._is_turn(key, turn) for _, turn, key in self._ready[:1]):
            return now
        while self._ready:
            if self._is_turn(self._ready[0][2], self._ready[0][1]):
                return now
            heapq.heappop(self._ready)
        self._skim()
        again = None
        if self._waiting:
            ends, _, _, key = self._waiting[0]
            entry = self._entries[key]
            again = ends if entry.errors else min(ends, entry.since + _PAUSE)
        longest = next(iter(self._parked), None)
        if longest is not None:
            again = earliest(again, self._entries[longest].since + _LEFT_OVER)
        return again

    def _due(self, now: datetime) -> list[str]:
        """Return the pods whose back-off is over, and those that were parked for too long."""
        due = []
        self._skim()
        while self._waiting and self._waiting[0][0] <= now:
            due.append(heapq.heappop(self._waiting)[3])
            self._skim()
        for key in self._parked:
            if self._entries[key].since + _LEFT_OVER > now:
                break
            due.append(key)
        return due

    def _make_ready(self, key: str, entry: _Entry) -> None:
        self._parked.pop(key, None)
        entry.turn = next(self._turns)
        heapq.heappush(self._ready, (entry.rank, entry.turn, key))

    def _wait(self, key: str, entry: _Entry) -> None:
        self._parked.pop(key, None)
        entry.turn = next(self._turns)
        ends = entry.backoff_ends
        heapq.heappush(self._waiting, (ends, entry.rank, entry.turn, key))

    def _skim(self) -> None:
        """Take from the top of those that wait what is void."""
        while self._waiting and not self._is_turn(self._waiting[0][3], self._waiting[0][2]):
            heapq.heappop(self._waiting)

    def _is_turn(self, key: str, turn: int) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.turn == turn
