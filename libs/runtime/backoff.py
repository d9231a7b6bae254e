"""The one way to retry: exponential, full jitter, capped; clock and randomness injected.

Full jitter (each wait is uniform between zero and the exponential bound) spreads callers that
failed together better than a jittered fraction does. Source: M. Brooker, "Exponential Backoff And
Jitter", 2015.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from libs.domain.errors import Unavailable
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class BackoffPolicy:
    """Bounds of the waits between attempts."""

    first: timedelta = timedelta(milliseconds=100)
    """Upper bound of the first wait; each later bound doubles."""
    cap: timedelta = timedelta(seconds=10)
    """The bound never grows above this."""


class Backoff:
    """Yields attempt numbers from 1 on, waiting before each but the first."""

    def __init__(self, policy: BackoffPolicy, clock: Clock, random: Random) -> None:
        self._policy = policy
        self._clock = clock
        self._random = random
        self._bound = policy.first

    def reset(self) -> None:
        """Forget the failures: the next wait is short again."""
        self._bound = self._policy.first

    def next_wait(self) -> timedelta:
        """Count one failure and return how long to wait before the next attempt."""
        bound = min(self._bound, self._policy.cap)
        self._bound = bound * 2
        return bound * self._random.random()

    async def wait(self) -> None:
        """Wait as long as one more failure asks for."""
        await self._clock.sleep(self.next_wait())

    async def __aiter__(self) -> AsyncIterator[int]:
        attempt = 1
        while True:
            yield attempt
            await self.wait()
            attempt += 1


async def retrying(call: Callable[[], Awaitable[T]], backoff: Backoff, *, attempts: int) -> T:
    """Return the first answer of `call`; only `Unavailable` is tried again.

    Args:
        call: starts one attempt; its own idempotency is the caller's matter.
        backoff: the waits in between.
        attempts: most calls made in all.

    Raises:
        Unavailable: the last attempt's error.
    """
    last = Unavailable("no attempt was allowed")
    async for attempt in backoff:
        if attempt > attempts:
            break
        try:
            return await call()
        except Unavailable as error:
            last = error
    raise last
