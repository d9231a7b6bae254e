"""Pusher and sink over real sockets: whatever happens, the sink ends at the newest snapshot."""

from datetime import timedelta

import grpc
import pytest

from libs.clients.outbox import SnapshotOutbox
from libs.domain.errors import InvalidRequest, NotFound, RevisionGone, StaleRevision
from libs.runtime.channel import DomainChannel
from libs.runtime.clock import SystemClock
from libs.runtime.timeouts import CallDeadlines
from libs.snapshots.holder import SnapshotHolder
from libs.wire.snapshot import encode_push_request
from tests.contract.snapshots.serving import (
    a_port_to_come_back_to,
    a_snapshot,
    arrived,
    eventually,
    network,
    pushing,
    sink,
)

METHOD = "/joiner.snapshot.v1.SnapshotSinkService/PushSnapshots"


def a_holder() -> SnapshotHolder:
    return SnapshotHolder(clock=SystemClock())


async def test_the_first_message_is_full_and_later_ones_are_changes() -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)) as (pusher, _),
    ):
        for revision in (1, 2, 3):
            outbox.put(a_snapshot(revision, pods=3))
            await arrived(holder, a_snapshot(revision, pods=3))
        await eventually(lambda: pusher.state.deltas == 2)

        assert pusher.state.fulls == 1
        assert pusher.state.acknowledged == a_snapshot(3).id
        assert pusher.lag() == timedelta(0)
        assert holder.revision(a_snapshot(1).id) == a_snapshot(1, pods=3)


async def test_only_the_last_four_revisions_are_kept() -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)),
    ):
        for revision in range(1, 6):
            outbox.put(a_snapshot(revision))
            await arrived(holder, a_snapshot(revision))

    assert holder.revision(a_snapshot(2).id) == a_snapshot(2)
    with pytest.raises(RevisionGone):
        holder.revision(a_snapshot(1).id)
    with pytest.raises(NotFound):
        holder.latest("elsewhere")


async def test_a_pusher_skips_revisions_that_came_while_the_sink_was_busy() -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)) as (pusher, _),
    ):
        for revision in range(1, 101):
            outbox.put(a_snapshot(revision, pods=2))
        await arrived(holder, a_snapshot(100, pods=2))
        await eventually(lambda: pusher.state.acknowledged == a_snapshot(100).id)

        assert pusher.state.fulls + pusher.state.deltas < 5


async def test_two_sinks_are_sent_the_same_bytes() -> None:
    first, second, outbox = a_holder(), a_holder(), SnapshotOutbox()
    async with (
        sink(first) as one,
        sink(second) as two,
        network() as peers,
        pushing(outbox, peers.channel(one)),
        pushing(outbox, peers.channel(two)),
    ):
        outbox.put(a_snapshot(1, pods=2))
        await arrived(first, a_snapshot(1, pods=2))
        await arrived(second, a_snapshot(1, pods=2))

        made = await outbox.message(None, a_snapshot(1, pods=2))
        assert made is await outbox.message(None, a_snapshot(1, pods=2))


async def test_a_sink_that_restarts_without_memory_is_sent_a_full_snapshot() -> None:
    outbox = SnapshotOutbox()
    outbox.put(a_snapshot(1, pods=2))
    async with network() as peers:
        before, after = a_holder(), a_holder()
        port = a_port_to_come_back_to()
        async with sink(before, port) as address:
            channel = peers.channel(address)
            async with pushing(outbox, channel) as (pusher, _):
                await arrived(before, a_snapshot(1, pods=2))
                await eventually(lambda: pusher.state.connected)
        async with pushing(outbox, channel) as (pusher, _):
            await eventually(lambda: pusher.state.failures > 0)
            outbox.put(a_snapshot(2, pods=2))
            async with sink(after, port):
                await arrived(after, a_snapshot(2, pods=2))


async def test_a_sink_that_restarts_under_an_open_stream_catches_up() -> None:
    outbox = SnapshotOutbox()
    outbox.put(a_snapshot(1, pods=2))
    async with network() as peers:
        before, after = a_holder(), a_holder()
        port = a_port_to_come_back_to()
        serving = sink(before, port)
        address = await serving.__aenter__()
        async with pushing(outbox, peers.channel(address)) as (pusher, _):
            await arrived(before, a_snapshot(1, pods=2))
            await serving.__aexit__(None, None, None)
            await eventually(lambda: pusher.state.failures > 0)
            async with sink(after, port):
                await arrived(after, a_snapshot(1, pods=2))
                await eventually(lambda: pusher.state.connected)

                assert pusher.state.deltas == 0, "a new sink has nothing that a delta could change"


async def test_a_pusher_with_fewer_lease_transitions_stops() -> None:
    holder, old, new = a_holder(), SnapshotOutbox(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(old, peers.channel(address)) as (_, old_task),
        pushing(new, peers.channel(address)),
    ):
        old.put(a_snapshot(7))
        await arrived(holder, a_snapshot(7))
        new.put(a_snapshot(1, boot_id="b", lease_transitions=2))
        await arrived(holder, a_snapshot(1, boot_id="b", lease_transitions=2))

        old.put(a_snapshot(8))

        with pytest.raises(StaleRevision):
            await old_task
        assert holder.latest("home") == a_snapshot(1, boot_id="b", lease_transitions=2)


async def test_an_idle_pusher_learns_from_a_heartbeat_that_it_is_superseded() -> None:
    holder, old, new = a_holder(), SnapshotOutbox(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(old, peers.channel(address)) as (_, old_task),
        pushing(new, peers.channel(address)),
    ):
        old.put(a_snapshot(7))
        await arrived(holder, a_snapshot(7))

        new.put(a_snapshot(1, boot_id="b", lease_transitions=2))

        with pytest.raises(StaleRevision):
            await old_task


async def test_a_new_process_of_the_same_leader_starts_with_a_full_snapshot() -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)) as (pusher, _),
    ):
        outbox.put(a_snapshot(7, pods=1))
        await arrived(holder, a_snapshot(7, pods=1))
        outbox.put(a_snapshot(1, boot_id="b", pods=2))
        await arrived(holder, a_snapshot(1, boot_id="b", pods=2))

        await eventually(lambda: pusher.state.fulls == 2)
        assert pusher.state.deltas == 0


async def test_a_snapshot_beyond_the_default_message_size_arrives() -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    large = a_snapshot(1, pods=60_000)
    assert len(await outbox.message(None, large)) > 4 * 1024 * 1024
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)),
    ):
        outbox.put(large)

        await arrived(holder, large)


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"\xff\xfe garbage", id="no message"),
        pytest.param(b"", id="an empty message"),
        pytest.param(encode_push_request(a_snapshot(1).id).SerializeToString()[:-2], id="cut off"),
    ],
)
async def test_garbage_is_refused_and_harms_nobody_else(garbage: bytes) -> None:
    holder, outbox = a_holder(), SnapshotOutbox()
    async with (
        sink(holder) as address,
        network() as peers,
        pushing(outbox, peers.channel(address)) as (pusher, _),
    ):
        outbox.put(a_snapshot(1))
        await arrived(holder, a_snapshot(1))
        async with grpc.aio.insecure_channel(address) as inner:
            call = DomainChannel(lambda: inner, CallDeadlines()).stream_stream(METHOD)()
            await call.write(garbage)

            with pytest.raises(InvalidRequest):
                await call.read()

        outbox.put(a_snapshot(2))
        await arrived(holder, a_snapshot(2))
        assert pusher.state.failures == 0
