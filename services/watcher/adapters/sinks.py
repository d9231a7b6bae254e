"""One pusher per address behind the names of the sinks.

A name is resolved again every few seconds: replicas come and go. Whoever waits for a revision to be
held waits here.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import timedelta

from libs.clients.outbox import SnapshotOutbox
from libs.clients.pusher import SnapshotPusher
from libs.domain.errors import Unavailable
from libs.domain.snapshot import SnapshotId
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from libs.runtime.network import Network
from libs.runtime.timeouts import deadline
from services.watcher.metrics import Metrics

logger = logging.getLogger(__name__)

PUSH_BACKOFF = BackoffPolicy(cap=timedelta(seconds=2))
"""A solver that restarts holds nothing, so it is looked for often."""

_RESOLVE_EVERY = timedelta(seconds=10)


class Sinks:
    """Everybody who gets the snapshots."""

    def __init__(
        self,
        names: tuple[str, ...],
        *,
        outbox: SnapshotOutbox,
        network: Network,
        clock: Clock,
        backoff: Callable[[BackoffPolicy], Backoff],
        metrics: Metrics,
    ) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._outbox = outbox
        self._network = network
        self._clock = clock
        self._backoff = backoff
        self._metrics = metrics
        self._behind: dict[str, tuple[str, ...]] = {}
        self._held: dict[str, SnapshotId] = {}
        self._acknowledged: LatestValue[None] = LatestValue()

    def behind(self, name: str) -> tuple[str, ...]:
        """Return the addresses behind one of the names, as last resolved."""
        return self._behind.get(name, ())

    def reached(self, name: str, number: SnapshotId) -> tuple[str, ...]:
        """Return the addresses behind a name that hold a revision or a newer one of its epoch."""
        return tuple(one for one in self.behind(name) if _has_reached(self._held.get(one), number))

    async def wait_reached(self, name: str, number: SnapshotId, within: timedelta) -> None:
        """Wait until somebody behind a name has reached a revision, but not longer than `within`.

        A pusher skips revisions while its sink is slow, so that the very one may never get there.
        """
        with contextlib.suppress(TimeoutError):
            async with deadline(self._clock, within):
                while not self.reached(name, number):
                    await self._acknowledged.newer_than(self._acknowledged.version)

    async def run(self) -> None:
        """Push to all, until cancelled.

        Raises:
            ExceptionGroup: of StaleRevision, if a sink has seen a later epoch.
        """
        async with asyncio.TaskGroup() as group:
            pushing: dict[str, asyncio.Task[None]] = {}
            while True:
                for name in self._names:
                    await self._resolve(name)
                wanted = {address for found in self._behind.values() for address in found}
                for address in sorted(set(pushing) - wanted):
                    pushing.pop(address).cancel()
                    self._held.pop(address, None)
                for address in sorted(wanted - set(pushing)):
                    pushing[address] = group.create_task(
                        self._push(address), name=f"push to {address}"
                    )
                await self._clock.sleep(_RESOLVE_EVERY)

    async def _resolve(self, name: str) -> None:
        try:
            self._behind[name] = await self._network.resolve(name)
        except Unavailable as error:
            logger.warning("cannot resolve sink", extra={"sink": name, "error": str(error)})

    async def _push(self, address: str) -> None:
        def note(number: SnapshotId) -> None:
            self._held[address] = number
            self._acknowledged.set(None)

        pusher = SnapshotPusher(
            self._network.channel(address),
            self._outbox,
            clock=self._clock,
            backoff=self._backoff(PUSH_BACKOFF),
            on_acknowledged=note,
        )
        lag = self._metrics.sink_lag.labels(address)
        lag.set_function(lambda: _seconds(pusher.lag()))
        try:
            await pusher.run()
        finally:
            self._metrics.sink_lag.remove(address)


def _has_reached(held: SnapshotId | None, number: SnapshotId) -> bool:
    if held is None or (held.cluster_id, held.epoch) != (number.cluster_id, number.epoch):
        return False
    return held.revision >= number.revision


def _seconds(lag: timedelta | None) -> float:
    return float("nan") if lag is None else lag.total_seconds()
