"""Heartbeats, identities and forgetting, in memory and on simulated time."""

import asyncio
from datetime import timedelta

from libs.clients.outbox import SnapshotOutbox
from libs.runtime.clock import LoopClock
from libs.runtime.memory.network import MemoryNetwork
from libs.runtime.memory.server import MemoryServer
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import HolderLimits, HomeCluster, SnapshotHolder
from tests.contract.snapshots.serving import NOW, a_guard, a_snapshot, pushing, registration

HOME = HomeCluster(cluster_id="home", identity="watcher")


async def serve(holder: SnapshotHolder) -> MemoryNetwork:
    server = MemoryServer(a_guard())
    registration(holder)(server)
    network = MemoryNetwork()
    network.listen("sink:1", server)
    await server.start()
    return network


def test_heartbeats_keep_a_cluster_from_being_forgotten() -> None:
    async def scenario() -> None:
        clock = LoopClock(NOW)
        limits = HolderLimits(idle=timedelta(minutes=1))
        holder = SnapshotHolder(clock=clock, home=HOME, limits=limits)
        network, outbox = await serve(holder), SnapshotOutbox()
        outbox.put(a_snapshot(1, cluster_id="theirs"))
        channel = network.seen_by("tool").channel("sink:1")
        async with pushing(outbox, channel, clock) as (pusher, _):
            await clock.sleep(timedelta(minutes=10))

            assert holder.latest("theirs").id.revision == 1
            assert pusher.state.heartbeats > 50
            assert pusher.lag() == timedelta(0)
        await clock.sleep(timedelta(minutes=2))
        holder.hear("another", a_snapshot(1, cluster_id="theirs").id)
        assert holder.changes.current is not None
        assert holder.changes.current.value == ()

    run_virtual(scenario())


def test_only_the_watcher_may_push_the_home_cluster() -> None:
    async def scenario() -> None:
        clock = LoopClock(NOW)
        holder = SnapshotHolder(clock=clock, home=HOME)
        network, forged, genuine = await serve(holder), SnapshotOutbox(), SnapshotOutbox()
        forged.put(a_snapshot(9, lease_transitions=99))
        genuine.put(a_snapshot(1))
        intruder = network.seen_by("tool").channel("sink:1")
        watcher = network.seen_by("watcher").channel("sink:1")
        async with (
            pushing(forged, intruder, clock) as (refused, _),
            pushing(genuine, watcher, clock) as (accepted, _),
        ):
            await clock.sleep(timedelta(seconds=5))

            assert refused.state.failures > 0
            assert refused.state.acknowledged is None
            assert accepted.state.connected
            assert holder.latest("home") == a_snapshot(1)

    run_virtual(scenario())


def test_a_sink_that_does_not_answer_is_given_up_and_tried_again() -> None:
    async def scenario() -> None:
        clock = LoopClock(NOW)
        holder = SnapshotHolder(clock=clock)
        network, outbox = await serve(holder), SnapshotOutbox()
        stuck = asyncio.Event()
        accept = holder.accept

        async def hang_once(*arguments: object) -> object:
            if not stuck.is_set():
                stuck.set()
                await asyncio.Event().wait()
            return await accept(*arguments)  # type: ignore[arg-type]  # passed through

        holder.accept = hang_once  # type: ignore[method-assign,assignment]  # one-shot failure
        outbox.put(a_snapshot(1))
        channel = network.seen_by("watcher").channel("sink:1")
        async with pushing(outbox, channel, clock) as (pusher, _):
            await clock.sleep(timedelta(seconds=29))
            assert pusher.state.failures == 0
            assert pusher.lag() is None
            await clock.sleep(timedelta(seconds=11))

            assert pusher.state.failures == 1
            assert holder.latest("home") == a_snapshot(1)

    run_virtual(scenario())
