"""The loop of the simulated cluster: step every part, then wait for news or the next due time."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from libs.runtime.clock import Clock
from services.simulator.core.api.store import Store
from services.simulator.core.part import Part, earliest
from services.simulator.metrics import Metrics
from services.simulator.sky import Sky

logger = logging.getLogger(__name__)

_LONG = timedelta(milliseconds=5)
"""Work after which requests that came meanwhile are answered."""
_SHARE = 2
"""So many times as long as the parts do requests have for themselves, if they need it: in a real
cluster kubelets and controllers are other machines."""
_PAUSE = timedelta(milliseconds=40)
"""Longest time that requests have for themselves; if it grew with the work, so would the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """A script that is played, and the weather that it makes."""

    player: Part
    sky: Sky


class LifeLoop:
    """Steps the parts on the clock, whenever any object was written."""

    def __init__(
        self,
        store: Store,
        parts: Sequence[Part],
        clock: Clock,
        metrics: Metrics,
        direction: Direction | None = None,
    ) -> None:
        self._direction = direction
        self._store = store
        self._parts = parts
        self._clock = clock
        self._metrics = metrics
        self._news = asyncio.Event()
        self._listening: set[str] = set()

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            self._listen()
            self._news.clear()
            begun = self._clock.monotonic()
            due = await self._step(self._clock.now())
            await self._wait(due, self._clock.monotonic() - begun)

    async def _step(self, now: datetime) -> datetime | None:
        """Step every part once; return when to step again if nothing is written before.

        A script goes first. While it pauses the API server the parts, which do nothing without it,
        stand still. Requests are answered between two parts that took long.
        """
        due: datetime | None = None
        for part in self._awake():
            begun = self._clock.monotonic()
            due = earliest(due, self._step_one(part, now))
            if self._clock.monotonic() - begun > _LONG.total_seconds():
                await self._clock.sleep(timedelta())
        return due

    def _step_one(self, part: Part, now: datetime) -> datetime | None:
        with self._metrics.measured(part.name):
            outcome = part.step(now)
        for refusal in outcome.refusals:
            self._metrics.refused(part.name)
            what = {"part": part.name, "subject": refusal.subject, "why": str(refusal.error)}
            logger.info("refused", extra=what)
        return outcome.again

    def _awake(self) -> Iterator[Part]:
        if self._direction is not None:
            yield self._direction.player
            if self._direction.sky.weather.paused:
                return
        yield from self._parts

    async def _wait(self, due: datetime | None, took: float) -> None:
        """Wait for news or until `due`, and first as long as is due to requests.

        What they write meanwhile is looked at together.
        """
        await self._clock.sleep(min(timedelta(seconds=took) * _SHARE, _PAUSE))
        if self._news.is_set():
            return
        left = None if due is None else max(0.0, (due - self._clock.now()).total_seconds())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._news.wait()

    def _listen(self) -> None:
        """Hear of writes to every resource, custom ones too, from the moment that it is served."""
        for resource in self._store.resources:
            if resource.bucket not in self._listening:
                self._listening.add(resource.bucket)
                self._store.storage.bucket(resource.bucket).listeners.append(self._news.set)
