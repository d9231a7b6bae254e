"""Batching of triggers: one decision for a burst of events instead of one for each.

Laws:
    - A window opens with its first trigger and closes after `idle` without a new one, after
      `longest` since it opened, or as soon as it holds `most` triggers, whichever is first.
    - A trigger that the open window already holds is ignored: it does not extend the window.
    - What is triggered while nobody waits is in the next window, which then begins at the next
      `wait`.
    - A cancelled `wait` loses nothing: its triggers are in the next window.

Source: `docs/sources.md` C; the count threshold is ours. Its one-second wait for a first trigger is
not here: a caller that has other things to do waits for both.
"""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, Protocol, TypeVar

T = TypeVar("T", bound=Hashable)


class Timer(Protocol):
    """What a batcher needs of a clock."""

    async def sleep(self, span: timedelta) -> None:
        """Wait for `span`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """When a batch closes."""

    idle: timedelta
    """Quiet time after the last new trigger."""
    longest: timedelta
    """Time after the first trigger, however busy."""
    most: int
    """Number of triggers that closes at once, so that no batch grows without bound."""


class Batcher(Generic[T]):
    """Collects triggers, each named by what it is about. One event loop; one waiter at a time."""

    def __init__(self, window: Window, clock: Timer) -> None:
        self._window = window
        self._clock = clock
        self._triggers: dict[T, None] = {}
        self._signal = asyncio.Event()

    def trigger(self, name: T) -> None:
        """Add to the window; never blocks."""
        if name not in self._triggers:
            self._triggers[name] = None
            self._signal.set()

    async def wait(self) -> tuple[T, ...]:
        """Wait for a window to open and close; return its triggers in order, at least one."""
        await self._signal.wait()
        longest = asyncio.create_task(self._clock.sleep(self._window.longest), name="batch longest")
        try:
            while len(self._triggers) < self._window.most and await self._was_extended(longest):
                pass
        finally:
            longest.cancel()
        batch = tuple(self._triggers)
        self._triggers.clear()
        self._signal.clear()
        return batch

    async def _was_extended(self, longest: "asyncio.Task[None]") -> bool:
        """Wait for a new trigger; return False if the window's time ran out instead."""
        self._signal.clear()
        idle = asyncio.create_task(self._clock.sleep(self._window.idle), name="batch idle")
        signal = asyncio.create_task(self._signal.wait(), name="batch signal")
        try:
            await asyncio.wait({idle, signal, longest}, return_when=asyncio.FIRST_COMPLETED)
            return signal.done() and not longest.done()
        finally:
            idle.cancel()
            signal.cancel()
            # Left for the next wait if this one was cancelled before it could close the window.
            self._signal.set()
