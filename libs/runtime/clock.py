"""The only source of time. Everything that waits or dates takes a `Clock`.

Two readings: `now` is the calendar (for conditions, budgets, ages of objects), `monotonic` never
goes back (for deadlines and leases). Waiting goes through the event loop's own timers, so a loop
with simulated time (`libs/runtime/virtual.py`) makes an hour pass in milliseconds without another
implementation of any service.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Reads and waits for time; every implementation waits on the running event loop's timers."""

    def now(self) -> datetime:
        """Return the current instant, timezone-aware UTC."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start; never goes back."""

    async def sleep(self, span: timedelta) -> None:
        """Wait for `span`; a span of zero or less yields once."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the wall clock's instant in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the event loop's time in seconds."""
        return asyncio.get_running_loop().time()

    async def sleep(self, span: timedelta) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(max(0.0, span.total_seconds()))


class LoopClock:
    """A calendar that runs on the event loop's time, for tests with simulated time."""

    def __init__(self, start: datetime) -> None:
        self._start = start

    def now(self) -> datetime:
        """Return the start plus the loop's time."""
        return self._start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the event loop's time in seconds."""
        return asyncio.get_running_loop().time()

    async def sleep(self, span: timedelta) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(max(0.0, span.total_seconds()))
