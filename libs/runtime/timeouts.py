"""Deadlines, for waits inside a process and for calls between processes."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from libs.runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDeadlines:
    """What a call gets that names no deadline of its own."""

    unary: timedelta = timedelta(seconds=10)
    stream: timedelta = timedelta(hours=1)
    """Streams end too: whoever opened one opens it again, and so follows changed endpoints."""

    def for_call(self, *, streaming: bool) -> timedelta:
        """Return the deadline of a call of this kind."""
        return self.stream if streaming else self.unary


def deadline(clock: Clock, span: timedelta) -> asyncio.Timeout:
    """Return a context that raises `TimeoutError` when its body has not ended after `span`.

    Runs on the injected clock, so it also holds on a loop with simulated time.
    """
    return asyncio.timeout_at(clock.monotonic() + span.total_seconds())
