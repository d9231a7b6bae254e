"""Leader election over a lease: at no instant do two processes act as leader.

A leader starts nothing after its deadline: the instant before its last successful renewal was sent,
plus the lease's duration, minus the timeout of a call. So whatever it started before is over when
another candidate may take the lease. `lease.py` decides; this is the loop around it.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from libs.domain.errors import (
    AlreadyExists,
    Forbidden,
    InvalidRequest,
    NotFound,
    NotReady,
    StaleRevision,
    Unavailable,
)
from libs.domain.snapshot import Epoch
from libs.runtime.clock import Clock
from libs.runtime.lease import (
    Candidate,
    Lease,
    LeaseStore,
    Seen,
    claim,
    observe,
    release,
    renewal,
)
from libs.runtime.randomness import Random
from libs.runtime.timeouts import deadline

logger = logging.getLogger(__name__)

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, None]]
"""What a leader does; runs until it is cancelled."""

_LOST = (AlreadyExists, StaleRevision, NotFound)
"""Another was faster; the next look at the lease shows who."""

_OUT_OF_REACH = (Unavailable, Forbidden, TimeoutError)
"""The store says nothing of the lease; an API server that starts forbids all until it has read its
roles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderSettings:
    """A service nests this as its field `leader`."""

    enabled: bool = True
    """Off only where exactly one replica can run; two without election would act twice."""
    duration: timedelta = timedelta(seconds=15)
    """How long a lease holds without renewal; the longest gap without a leader after a crash."""
    retry_period: timedelta = timedelta(seconds=2)
    """Between renewals of a leader and between looks of a candidate."""
    call_timeout: timedelta = timedelta(seconds=5)
    """Longest mutation that a leader may start; taken off the lease's duration."""

    def __post_init__(self) -> None:
        if not timedelta() < self.retry_period < self.duration - self.call_timeout:
            raise InvalidRequest(
                "must be shorter than the duration without the call timeout", field="retry_period"
            )


class Leadership:
    """Competes for one lease, and runs the leader's work while it holds it."""

    def __init__(
        self,
        *,
        store: LeaseStore,
        boot_id: str,
        settings: LeaderSettings,
        clock: Clock,
        random: Random,
    ) -> None:
        self._store = store
        self._boot_id = boot_id
        self._settings = settings
        self._clock = clock
        self._random = random
        self._candidate = Candidate(holder=boot_id, duration=settings.duration)
        self._seen: Seen | None = None
        self._deadline = -math.inf

    @property
    def leading(self) -> bool:
        """Whether a mutation may be started at this instant."""
        return self._clock.monotonic() < self._deadline

    @property
    def epoch(self) -> Epoch:
        """The current term.

        Raises:
            NotReady: this process does not lead.
        """
        self.require_leadership()
        assert self._seen is not None
        return Epoch(lease_transitions=self._seen.lease.transitions, boot_id=self._boot_id)

    def deadline(self) -> float:
        """Return the monotonic instant after which nothing may be started; -inf if not leading."""
        return self._deadline

    def require_leadership(self) -> None:
        """Return if a mutation may be started at this instant.

        Raises:
            NotReady: this process does not lead, or can no longer be sure that it does.
        """
        if not self.leading:
            raise NotReady(f"{self._candidate.holder!r} does not hold the lease")

    async def run(self, lead: Work) -> None:
        """Compete for ever; while leading, run `lead`, which is cancelled when the lease is lost.

        `lead` starts anew with each term and must not return. The lease is released after `lead`
        has ended, so a successor need not wait for it to run out.
        """
        while True:
            await self._acquire()
            logger.info("started leading", extra={"transitions": self.epoch.lease_transitions})
            try:
                await self._hold(lead)
            finally:
                await self._release()
                logger.info("stopped leading")

    async def _acquire(self) -> None:
        while not self.leading:
            await self._attempt(self._claim, self._settings.call_timeout)
            if not self.leading:
                await self._clock.sleep(self._pause())

    async def _hold(self, lead: Work) -> None:
        async with asyncio.TaskGroup() as group:
            work = group.create_task(_endless(lead), name="leading")
            while self.leading:
                await self._clock.sleep(min(self._pause(), self._remaining()))
                if self.leading:
                    limit = min(self._settings.call_timeout, self._remaining())
                    await self._attempt(self._renewal, limit)
            work.cancel()

    async def _attempt(self, wanted: Callable[[], Lease | None], limit: timedelta) -> None:
        """Read the lease once and, if `wanted` says so, write it once; each within `limit`."""
        try:
            found = await self._within(limit, self._store.get())
            self._seen = observe(self._seen, found, self._clock.monotonic())
            lease = wanted()
            if lease is None:
                self._deadline = -math.inf
            else:
                await self._write(lease, limit)
        except _LOST:
            logger.info("another candidate wrote the lease")
        except _OUT_OF_REACH as error:
            logger.warning("lease is out of reach", extra={"error": str(error)})

    async def _write(self, lease: Lease, limit: timedelta) -> None:
        sent = self._clock.monotonic()
        write = self._store.update if self._seen else self._store.create
        written = await self._within(limit, write(lease))
        self._seen = Seen(written, self._clock.monotonic())
        self._deadline = sent + (written.duration - self._settings.call_timeout).total_seconds()

    async def _release(self) -> None:
        self._deadline = -math.inf
        if release(self._seen, self._candidate, self._clock.now()) is None:
            return
        try:
            await self._within(self._settings.call_timeout, self._free())
        except (*_LOST, *_OUT_OF_REACH) as error:
            logger.info("lease was left to run out", extra={"error": str(error)})

    async def _free(self) -> None:
        """Read the lease and free it if it is still ours.

        What was seen last is not enough: a renewal that was cut off on its way may have been
        written, and then the record has a version that this process was never told.
        """
        found = await self._store.get()
        self._seen = observe(self._seen, found, self._clock.monotonic())
        freed = release(self._seen, self._candidate, self._clock.now())
        if freed is not None:
            await self._store.update(freed)

    def _claim(self) -> Lease | None:
        return claim(self._seen, self._candidate, self._clock.monotonic(), self._clock.now())

    def _renewal(self) -> Lease | None:
        return renewal(self._seen, self._candidate, self._clock.now())

    def _pause(self) -> timedelta:
        return self._settings.retry_period * (0.9 + 0.2 * self._random.random())

    def _remaining(self) -> timedelta:
        seconds = max(0.0, self._deadline - self._clock.monotonic())
        # rounded up: a remainder below a microsecond would be a wait of zero, over and over
        return timedelta(microseconds=math.ceil(seconds * 1e6))

    async def _within(self, limit: timedelta, call: Awaitable[T]) -> T:
        async with deadline(self._clock, limit):
            return await call


async def _endless(lead: Work) -> None:
    await lead()
    raise RuntimeError("the leader's work returned; it must run until it is cancelled")
