"""Health names of held clusters, and how long a pusher was silent."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from libs.domain.errors import NotFound
from libs.domain.snapshot import full
from libs.runtime.clock import LoopClock
from libs.runtime.health import Health
from libs.runtime.virtual import run_virtual
from libs.snapshots.health import show_held
from libs.snapshots.holder import HolderLimits, SnapshotHolder
from tests.support.builders import a_snapshot

HOUR = timedelta(hours=1)
CLOCK = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))


def test_a_cluster_is_served_as_long_as_it_is_held() -> None:
    async def scenario() -> None:
        holder = SnapshotHolder(clock=CLOCK, limits=HolderLimits(idle=HOUR))
        health = Health()
        showing = asyncio.create_task(show_held(holder, health))
        await holder.accept("watcher", full(a_snapshot()), 1)
        await CLOCK.sleep(timedelta(seconds=1))
        assert health.serving("snapshot/test")

        await CLOCK.sleep(2 * HOUR)
        with pytest.raises(NotFound):
            holder.latest("test")
        await CLOCK.sleep(timedelta(seconds=1))
        assert not health.serving("snapshot/test")
        showing.cancel()

    run_virtual(scenario())


def test_silence_ends_with_an_update_or_a_heartbeat() -> None:
    async def scenario() -> None:
        holder = SnapshotHolder(clock=CLOCK)
        with pytest.raises(NotFound):
            holder.silence("test")
        snapshot = a_snapshot()
        await holder.accept("watcher", full(snapshot), 1)
        await CLOCK.sleep(HOUR / 2)
        assert holder.silence("test") == HOUR / 2

        holder.hear("watcher", snapshot.id)
        assert holder.silence("test") == timedelta(0)
        await CLOCK.sleep(HOUR / 2)
        newer = replace(snapshot, id=replace(snapshot.id, revision=2))
        await holder.accept("watcher", full(newer), 1)
        assert holder.silence("test") == timedelta(0)

    run_virtual(scenario())
