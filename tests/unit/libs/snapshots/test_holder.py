from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from libs.domain.errors import Forbidden, InvalidRequest
from libs.domain.pod import PodRow
from libs.domain.pod_table import PodTable
from libs.domain.snapshot import (
    ClusterSnapshot,
    Epoch,
    PushResult,
    SnapshotId,
    SnapshotUpdate,
    delta,
    full,
)
from libs.domain.workload import Gang
from libs.snapshots.holder import HolderLimits, HomeCluster, SnapshotHolder

HOME = HomeCluster(cluster_id="home", identity="watcher")
LIMITS = HolderLimits(clusters=2, size_bytes=100, idle=timedelta(minutes=1))


class HandClock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, span: timedelta) -> None:
        self.seconds += span.total_seconds()


def a_snapshot(
    revision: int = 1, cluster_id: str = "c", transitions: int = 1, boot_id: str = "a"
) -> ClusterSnapshot:
    return ClusterSnapshot(
        id=SnapshotId(
            cluster_id=cluster_id,
            epoch=Epoch(lease_transitions=transitions, boot_id=boot_id),
            revision=revision,
        ),
        observed_at=datetime(2026, 1, 1, tzinfo=UTC),
        gangs={"n/g": Gang(namespace="n", name="g", min_members=revision)},
    )


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def holder(clock: HandClock) -> SnapshotHolder:
    return SnapshotHolder(clock=clock, home=HOME, limits=LIMITS)


async def push(
    holder: SnapshotHolder,
    snapshot: ClusterSnapshot,
    *,
    base: ClusterSnapshot | None = None,
    identity: str = "tool",
    size: int = 10,
) -> PushResult:
    update: SnapshotUpdate = full(snapshot) if base is None else delta(base, snapshot)
    return await holder.accept(identity, update, size)


async def test_a_change_of_a_revision_that_is_not_held_needs_a_full_snapshot(
    holder: SnapshotHolder,
) -> None:
    assert await push(holder, a_snapshot(2), base=a_snapshot(1)) is PushResult.NEEDS_FULL

    await push(holder, a_snapshot(1))

    assert await push(holder, a_snapshot(2), base=a_snapshot(1)) is PushResult.HELD
    assert holder.latest("c") == a_snapshot(2)


async def test_a_change_of_another_process_needs_a_full_snapshot(holder: SnapshotHolder) -> None:
    await push(holder, a_snapshot(1))
    await push(holder, a_snapshot(1, boot_id="b"))

    assert await push(holder, a_snapshot(2), base=a_snapshot(1)) is PushResult.NEEDS_FULL
    assert holder.latest("c") == a_snapshot(1, boot_id="b")


async def test_fewer_lease_transitions_are_superseded(holder: SnapshotHolder) -> None:
    await push(holder, a_snapshot(1, transitions=3))

    assert await push(holder, a_snapshot(9, transitions=2)) is PushResult.SUPERSEDED
    assert holder.hear("tool", a_snapshot(9, transitions=2).id) is PushResult.SUPERSEDED
    assert holder.latest("c") == a_snapshot(1, transitions=3)


async def test_a_repeated_or_late_update_changes_nothing(holder: SnapshotHolder) -> None:
    await push(holder, a_snapshot(5))

    assert await push(holder, a_snapshot(5)) is PushResult.HELD
    assert await push(holder, a_snapshot(4)) is PushResult.HELD
    assert holder.latest("c") == a_snapshot(5)


async def test_a_heartbeat_for_what_is_not_held_asks_for_a_full_snapshot(
    holder: SnapshotHolder,
) -> None:
    assert holder.hear("tool", a_snapshot(1).id) is PushResult.NEEDS_FULL

    await push(holder, a_snapshot(1))

    assert holder.hear("tool", a_snapshot(1).id) is PushResult.HELD
    assert holder.hear("tool", a_snapshot(2).id) is PushResult.NEEDS_FULL


async def test_a_cluster_belongs_to_the_identity_that_first_pushed_it(
    holder: SnapshotHolder,
) -> None:
    await push(holder, a_snapshot(1))

    with pytest.raises(Forbidden, match="belongs to another"):
        await push(holder, a_snapshot(2), identity="other")
    with pytest.raises(Forbidden, match="belongs to another"):
        holder.hear("other", a_snapshot(1).id)


async def test_the_home_cluster_is_the_watchers_even_before_it_pushed(
    holder: SnapshotHolder,
) -> None:
    with pytest.raises(Forbidden):
        await push(holder, a_snapshot(1, "home"))

    assert await push(holder, a_snapshot(1, "home"), identity="watcher") is PushResult.HELD


async def test_an_identity_has_a_limited_number_of_clusters(holder: SnapshotHolder) -> None:
    await push(holder, a_snapshot(1, "one"))
    await push(holder, a_snapshot(1, "two"))

    with pytest.raises(Forbidden, match="at most 2 clusters"):
        await push(holder, a_snapshot(1, "three"))
    assert await push(holder, a_snapshot(1, "three"), identity="other") is PushResult.HELD


async def test_an_identity_has_a_limited_size_and_changes_are_measured_anew(
    holder: SnapshotHolder,
) -> None:
    await push(holder, a_snapshot(1), size=80)

    with pytest.raises(Forbidden, match="100 bytes"):
        await push(holder, a_snapshot(1, "other"), size=30)
    grown = await push(holder, a_snapshot(2), base=a_snapshot(1), size=30)
    assert grown is PushResult.NEEDS_FULL
    assert await push(holder, a_snapshot(2), size=90) is PushResult.HELD


async def test_the_home_cluster_has_no_limit_and_is_never_forgotten(
    holder: SnapshotHolder, clock: HandClock
) -> None:
    await push(holder, a_snapshot(1, "home"), identity="watcher", size=10_000)

    clock.seconds += 10_000

    assert holder.latest("home") == a_snapshot(1, "home")


async def test_a_cluster_that_is_not_heard_of_is_forgotten_with_its_owner(
    holder: SnapshotHolder, clock: HandClock
) -> None:
    await push(holder, a_snapshot(1))
    clock.seconds += 59
    holder.hear("tool", a_snapshot(1).id)
    clock.seconds += 59
    assert holder.latest("c") == a_snapshot(1)

    clock.seconds += 2

    assert await push(holder, a_snapshot(1), identity="other") is PushResult.HELD


async def test_a_snapshot_with_a_reference_to_nowhere_is_refused(holder: SnapshotHolder) -> None:
    orphan = PodTable.from_rows([PodRow(uid="u", namespace="n", name="p", shape=7)])

    with pytest.raises(InvalidRequest, match='pod "n/p" has unknown shape 7'):
        await push(holder, replace(a_snapshot(1), pods=orphan))


async def test_who_waits_for_something_newer_gets_the_newest(holder: SnapshotHolder) -> None:
    await push(holder, a_snapshot(1))

    assert await holder.newer_than("c", None) == a_snapshot(1)

    await push(holder, a_snapshot(2))
    assert await holder.newer_than("c", a_snapshot(1).id) == a_snapshot(2)
    assert holder.changes.version == 2
