"""Makes snapshots of what is known and puts them into the outbox; numbers them.

Laws:
- Revisions grow by one with each snapshot of this process, through all its terms.
- A snapshot is made at once for a decision, and otherwise at most once a second, when something
  changed.
- A snapshot with a reference that leads nowhere is never published: sinks would refuse it. The last
  good one stays until the state is whole again.
"""

import logging
from datetime import timedelta

from libs.clients.outbox import SnapshotOutbox
from libs.cluster.state import ClusterState
from libs.collections.ring_buffer import RingBuffer
from libs.domain.errors import NotReady
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, inconsistencies
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from services.watcher.metrics import Metrics

logger = logging.getLogger(__name__)

_PAUSE = timedelta(seconds=1)
_LATEST = 8
"""Snapshots that a solver may answer about: while one is on its way, a newer one may be made."""
_NAMED = 5  # problems in one message


class Publisher:
    """One outbox and its numbers."""

    def __init__(
        self,
        *,
        cluster_id: str,
        state: ClusterState,
        changes: LatestValue[None],
        outbox: SnapshotOutbox,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._cluster_id = cluster_id
        self._state = state
        self._changes = changes
        self._outbox = outbox
        self._clock = clock
        self._metrics = metrics
        self._epoch: Epoch | None = None
        self._revision = 0
        self._published = 0
        self._latest: RingBuffer[ClusterSnapshot] = RingBuffer(_LATEST)

    @property
    def newest(self) -> ClusterSnapshot | None:
        """The newest snapshot, None before the first."""
        return self._outbox.newest

    def find(self, number: SnapshotId) -> ClusterSnapshot | None:
        """Return a snapshot that was published lately, None if it is not kept any more."""
        return next((one for one in self._latest if one.id == number), None)

    def begin_term(self, epoch: Epoch) -> None:
        """Number what follows as of this epoch."""
        self._epoch = epoch

    def publish(self) -> ClusterSnapshot:
        """Make a snapshot of what is known now, and have it pushed.

        Raises:
            NotReady: the cluster state broke its own law, which only a bug does.
        """
        assert self._epoch is not None, "nothing is published before a term begins"
        began = self._clock.monotonic()
        self._published = self._changes.version
        self._revision += 1
        number = SnapshotId(cluster_id=self._cluster_id, epoch=self._epoch, revision=self._revision)
        snapshot = self._state.snapshot(self._clock.now(), number)
        problems = inconsistencies(snapshot, self.newest)
        if problems:
            raise NotReady(f"snapshot is inconsistent: {'; '.join(problems[:_NAMED])}")
        self._latest.insert(snapshot)
        self._outbox.put(snapshot)
        self._measure(snapshot, self._clock.monotonic() - began)
        return snapshot

    async def run(self) -> None:
        """Publish what changed, until cancelled."""
        while True:
            await self._changes.newer_than(self._published)
            try:
                self.publish()
            except NotReady as error:
                logger.error("cannot publish", extra={"error": str(error)})
            await self._clock.sleep(_PAUSE)

    def _measure(self, snapshot: ClusterSnapshot, seconds: float) -> None:
        self._metrics.published.inc()
        self._metrics.build_durations.observe(seconds)
        self._metrics.cluster_nodes.set(len(snapshot.nodes))
        self._metrics.set_aside.set(len(snapshot.set_aside))
