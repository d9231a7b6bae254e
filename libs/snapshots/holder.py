"""Holds the newest revisions of every cluster that is pushed here.

Laws:
- A cluster id belongs to the identity that first pushed it, the home cluster to the watcher alone.
- Fewer lease transitions than seen before are refused; within an epoch revisions only grow.
- What is held is consistent: every reference in it leads somewhere.
- Identities other than the watcher are limited: clusters, bytes, and idle clusters are forgotten.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from libs.domain.errors import Forbidden, InvalidRequest, NotFound, RevisionGone
from libs.domain.snapshot import (
    ClusterSnapshot,
    PushResult,
    SnapshotId,
    SnapshotUpdate,
    apply,
    inconsistencies,
)
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue

_REVISIONS = 4
"""Enough for a caller to name the revision of the plan it just got while newer ones arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeCluster:
    """The cluster that this process works for, and the only identity that may push it."""

    cluster_id: str
    identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderLimits:
    """What one identity may have held, the home cluster apart."""

    clusters: int = 4
    size_bytes: int = 256 * 1024 * 1024
    """Of the newest revisions of all its clusters, as they came over the wire."""
    idle: timedelta = timedelta(hours=1)
    """A cluster that was not heard of for so long is forgotten."""


async def _at_nothing(_: ClusterSnapshot) -> None:
    """Look at nothing."""


class SnapshotHolder:
    """Accepts updates and answers with snapshots; lives on one event loop."""

    def __init__(
        self,
        *,
        clock: Clock,
        home: HomeCluster | None = None,
        limits: HolderLimits = HolderLimits(),  # immutable
        look: Callable[[ClusterSnapshot], Awaitable[None]] = _at_nothing,
    ) -> None:
        """Begin with nothing.

        Args:
            clock: tells who has been idle.
            home: the cluster of this process, if it has one.
            limits: of everybody else.
            look: is shown each revision before anybody hears that it is held; raises nothing.
        """
        self._clock = clock
        self._look = look
        self._home = home
        self._limits = limits
        self._clusters: dict[str, _Held] = {}
        self._changes: LatestValue[tuple[str, ...]] = LatestValue()

    @property
    def changes(self) -> LatestValue[tuple[str, ...]]:
        """The ids of all clusters held, sorted; set anew with each revision that arrives."""
        return self._changes

    def latest(self, cluster_id: str) -> ClusterSnapshot:
        """Return the newest snapshot of a cluster.

        Raises:
            NotFound: none is held.
        """
        return self._held(cluster_id).newest

    def revision(self, snapshot_id: SnapshotId) -> ClusterSnapshot:
        """Return one of the newest revisions.

        Raises:
            NotFound: no snapshot of the cluster is held.
            RevisionGone: another revision is.
        """
        found = self._held(snapshot_id.cluster_id).find(snapshot_id)
        if found is None:
            raise RevisionGone(
                f"revision {snapshot_id.revision} of cluster {snapshot_id.cluster_id!r} "
                f"is not among the last {_REVISIONS}"
            )
        return found

    def silence(self, cluster_id: str) -> timedelta:
        """Return for how long the pusher of a cluster has not been heard of, heartbeats included.

        Raises:
            NotFound: no snapshot of the cluster is held.
        """
        return timedelta(seconds=self._clock.monotonic() - self._held(cluster_id).heard_at)

    async def newer_than(self, cluster_id: str, seen: SnapshotId | None) -> ClusterSnapshot:
        """Wait until the newest snapshot of a cluster is another than `seen`, and return it."""
        while True:
            version = self._changes.version
            held = self._clusters.get(cluster_id)
            if held is not None and held.newest.id != seen:
                return held.newest
            await self._changes.newer_than(version)

    async def accept(self, identity: str, update: SnapshotUpdate, size_bytes: int) -> PushResult:
        """Take an update in; the work is done off the event loop.

        Args:
            identity: who pushes.
            update: a full snapshot, or the change of one that is held.
            size_bytes: size of the update on the wire.

        Raises:
            Forbidden: another identity owns the cluster, or a limit is reached.
            InvalidRequest: a reference in the resulting snapshot leads nowhere.
        """
        self._drop_idle()
        if (result := self._known(identity, update.id)) is not None:
            return result
        base = None
        if update.base_revision is not None:
            base = self._base(update)
            if base is None:
                return PushResult.NEEDS_FULL
        snapshot = await asyncio.to_thread(_applied, update, base)
        await self._look(snapshot)
        if (result := self._known(identity, update.id)) is not None:
            return result  # another stream was faster
        return self._store(identity, snapshot, size_bytes, is_full=base is None)

    def hear(self, identity: str, snapshot_id: SnapshotId) -> PushResult:
        """Note that a pusher lives and has nothing newer than `snapshot_id`.

        Raises:
            Forbidden: another identity owns the cluster.
        """
        self._drop_idle()
        return self._known(identity, snapshot_id) or PushResult.NEEDS_FULL

    def _known(self, identity: str, pushed: SnapshotId) -> PushResult | None:
        """Return the answer where there is nothing to take in, None where there is."""
        self._check_owner(identity, pushed.cluster_id)
        held = self._clusters.get(pushed.cluster_id)
        if held is None:
            return None
        newest = held.newest.id
        if pushed.epoch.lease_transitions < newest.epoch.lease_transitions:
            return PushResult.SUPERSEDED
        if pushed.epoch != newest.epoch or pushed.revision > newest.revision:
            return None
        held.heard_at = self._clock.monotonic()
        return PushResult.HELD

    def _base(self, update: SnapshotUpdate) -> ClusterSnapshot | None:
        held = self._clusters.get(update.id.cluster_id)
        if held is None or update.base_revision is None or held.newest.id.epoch != update.id.epoch:
            return None
        return held.find(
            SnapshotId(
                cluster_id=update.id.cluster_id,
                epoch=update.id.epoch,
                revision=update.base_revision,
            )
        )

    def _store(
        self, identity: str, snapshot: ClusterSnapshot, size_bytes: int, *, is_full: bool
    ) -> PushResult:
        cluster_id = snapshot.id.cluster_id
        held = self._clusters.get(cluster_id) or _Held(owner=identity)
        # Changes add up to more than what they leave; a full snapshot tells the true size again.
        size = size_bytes if is_full else held.size_bytes + size_bytes
        if not self._is_home(cluster_id) and not self._within_limits(identity, cluster_id, size):
            if is_full:
                raise Forbidden(self._limit_message(identity))
            return PushResult.NEEDS_FULL
        held.size_bytes = size
        held.heard_at = self._clock.monotonic()
        held.revisions.append(snapshot)
        self._clusters[cluster_id] = held
        self._announce()
        return PushResult.HELD

    def _held(self, cluster_id: str) -> "_Held":
        self._drop_idle()
        held = self._clusters.get(cluster_id)
        if held is None:
            raise NotFound(f"no snapshot of cluster {cluster_id!r} is held")
        return held

    def _is_home(self, cluster_id: str) -> bool:
        return self._home is not None and cluster_id == self._home.cluster_id

    def _check_owner(self, identity: str, cluster_id: str) -> None:
        held = self._clusters.get(cluster_id)
        owner = held.owner if held is not None else identity
        if self._home is not None and cluster_id == self._home.cluster_id:
            owner = self._home.identity
        if owner != identity:
            raise Forbidden(f"cluster {cluster_id!r} belongs to another identity than {identity!r}")

    def _within_limits(self, identity: str, cluster_id: str, size_bytes: int) -> bool:
        others = [
            held.size_bytes
            for other, held in self._clusters.items()
            if held.owner == identity and other != cluster_id and not self._is_home(other)
        ]
        return (
            len(others) < self._limits.clusters
            and sum(others) + size_bytes <= self._limits.size_bytes
        )

    def _limit_message(self, identity: str) -> str:
        return (
            f"{identity!r} may have at most {self._limits.clusters} clusters and "
            f"{self._limits.size_bytes} bytes held"
        )

    def _drop_idle(self) -> None:
        oldest = self._clock.monotonic() - self._limits.idle.total_seconds()
        idle = [
            cluster_id
            for cluster_id, held in self._clusters.items()
            if held.heard_at < oldest and not self._is_home(cluster_id)
        ]
        for cluster_id in idle:
            del self._clusters[cluster_id]
        if idle:
            self._announce()

    def _announce(self) -> None:
        self._changes.set(tuple(sorted(self._clusters)))


@dataclass(slots=True, kw_only=True)
class _Held:
    """What is held of one cluster; `revisions` oldest first, never empty once stored."""

    owner: str
    revisions: deque[ClusterSnapshot] = field(default_factory=lambda: deque(maxlen=_REVISIONS))
    size_bytes: int = 0
    heard_at: float = 0.0

    @property
    def newest(self) -> ClusterSnapshot:
        return self.revisions[-1]

    def find(self, snapshot_id: SnapshotId) -> ClusterSnapshot | None:
        return next((one for one in self.revisions if one.id == snapshot_id), None)


def _applied(update: SnapshotUpdate, base: ClusterSnapshot | None) -> ClusterSnapshot:
    snapshot = apply(update, base)
    if problems := inconsistencies(snapshot, base):
        raise InvalidRequest(f"{problems[0]} ({len(problems)} such in all)", field="update")
    return snapshot
