"""`WorkQueue`: looks at objects, each key by one worker at a time, again when it is due or changed.

Level-triggered: a key that is added many times before its turn is looked at once; one that is added
while it is looked at is looked at again.
"""

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from libs.domain.errors import JoinerError, StaleRevision
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random
from services.lifecycle.metrics import Metrics

logger = logging.getLogger(__name__)

AT_ONCE = timedelta(0)
_WORKERS = 100
"""Most looks at a time; they wait for the network, not for the processor."""
_TICK = 0.001
"""Timers of the event loop may fire a moment early; what is due then must not wait for none."""
_STALE_RETRY = timedelta(milliseconds=500)
"""After a lost race, by when the informers have told of the winner."""
_BACKOFF = BackoffPolicy(first=timedelta(seconds=1), cap=timedelta(minutes=1))


class Kind(StrEnum):
    """What there is to look at."""

    CLAIM = "nodeclaim"
    NODE = "node"
    POOL = "nodepool"
    NODE_CLASS = "nodeclass"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Key:
    """One object; `scope` is the group of a node class, empty otherwise."""

    kind: Kind
    name: str
    scope: str = ""


class TryAgainError(Exception):
    """The look did what it could and is to be repeated with backoff."""


Look = Callable[[Key], Awaitable[timedelta | None]]
"""Looks at one object; returns when to look again at the latest, None: when it changes."""


class WorkQueue:
    """Keys that are due, and who looks at them."""

    def __init__(self, look: Look, clock: Clock, random: Random, metrics: Metrics) -> None:
        self._look = look
        self._clock = clock
        self._random = random
        self._metrics = metrics
        self._due: dict[Key, float] = {}
        self._order: list[tuple[float, int, Key]] = []
        self._sequence = 0
        self._running: dict[Key, float | None] = {}
        """Keys that are looked at, with the time at which they were wanted again meanwhile."""
        self._backoffs: dict[Key, Backoff] = {}
        self._news = asyncio.Event()

    def add(self, key: Key, after: timedelta = AT_ONCE) -> None:
        """Have a key looked at after a span at the latest."""
        self._add_at(key, self._clock.monotonic() + max(0.0, after.total_seconds()))

    async def run(self) -> None:
        """Look at what is due, until cancelled."""
        self._running.clear()
        async with asyncio.TaskGroup() as group:
            while True:
                self._news.clear()
                for key in self._take_due():
                    group.create_task(self._work(key), name=f"look at {key.kind} {key.name}")
                await self._wait()

    def _add_at(self, key: Key, at: float) -> None:
        if key in self._running:
            wanted = self._running[key]
            self._running[key] = at if wanted is None else min(wanted, at)
            return
        if key in self._due and self._due[key] <= at:
            return
        self._due[key] = at
        self._sequence += 1
        heapq.heappush(self._order, (at, self._sequence, key))
        self._news.set()

    def _take_due(self) -> list[Key]:
        """Return keys whose time has come, as many as there are free workers."""
        now = self._clock.monotonic() + _TICK
        taken: list[Key] = []
        while self._order and self._order[0][0] <= now and len(self._running) < _WORKERS:
            at, _, key = heapq.heappop(self._order)
            if self._due.get(key) != at:
                continue  # it was moved to an earlier time, and taken then
            del self._due[key]
            self._running[key] = None
            taken.append(key)
        self._metrics.queued.set(len(self._due))
        return taken

    async def _wait(self) -> None:
        if len(self._running) >= _WORKERS or not self._order:
            await self._news.wait()
            return
        try:
            async with asyncio.timeout_at(self._order[0][0]):
                await self._news.wait()
        except TimeoutError:
            return

    async def _work(self, key: Key) -> None:
        began = self._clock.monotonic()
        try:
            again = await self._look(key)
        except StaleRevision as error:
            logger.debug("lost a race", extra={"key": key.name, "error": str(error)})
            again = _STALE_RETRY
        except (JoinerError, TryAgainError, TimeoutError) as error:
            again = self._failed(key, error)
        else:
            self._backoffs.pop(key, None)
        self._metrics.reconciles.labels(key.kind).observe(self._clock.monotonic() - began)
        wanted = self._running.pop(key)
        if wanted is not None:
            self._add_at(key, wanted)
        if again is not None:
            self.add(key, again)
        self._news.set()

    def _failed(self, key: Key, error: Exception) -> timedelta:
        self._metrics.failures.labels(key.kind).inc()
        backoff = self._backoffs.setdefault(key, Backoff(_BACKOFF, self._clock, self._random))
        logger.warning(
            "look failed", extra={"kind": key.kind, "object": key.name, "error": str(error)}
        )
        return backoff.next_wait()
