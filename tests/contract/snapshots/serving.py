"""A sink on a real socket, pushers to it, and snapshots that say nothing but their revision."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import grpc
from joiner.snapshot.v1 import snapshot_pb2_grpc
from prometheus_client import CollectorRegistry

from libs.clients.outbox import SnapshotOutbox
from libs.clients.pusher import PushPolicy, SnapshotPusher
from libs.domain.pod import PodRow, PodShape
from libs.domain.pod_table import PodTable
from libs.domain.requirements import ANYTHING
from libs.domain.resources import NOTHING
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, keyed
from libs.runtime import server
from libs.runtime.authorization import ANYONE, AuthorizationTable
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock, SystemClock
from libs.runtime.guard import Guard
from libs.runtime.metrics import ServerMetrics
from libs.runtime.network import GrpcNetwork
from libs.runtime.randomness import Random
from libs.runtime.timeouts import CallDeadlines
from libs.snapshots.holder import SnapshotHolder
from libs.snapshots.servicer import SnapshotSinkServicer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUICK = PushPolicy(heartbeat=timedelta(milliseconds=20))


def a_snapshot(
    revision: int,
    *,
    boot_id: str = "a",
    lease_transitions: int = 1,
    cluster_id: str = "home",
    pods: int = 0,
) -> ClusterSnapshot:
    """A snapshot with `pods` pods, one of which changes with each revision."""
    shape = PodShape(id=1, namespace="default", requests=NOTHING, node_selector=ANYTHING)
    return ClusterSnapshot(
        id=SnapshotId(
            cluster_id=cluster_id,
            epoch=Epoch(lease_transitions=lease_transitions, boot_id=boot_id),
            revision=revision,
        ),
        observed_at=NOW,
        shapes=keyed("shapes", [shape]),
        pods=PodTable.from_rows(
            PodRow(
                uid=f"00000000-0000-0000-0000-{number:012}",
                namespace="default",
                name=f"a-pod-with-a-name-{number}",
                shape=1,
                priority=revision if number == 0 else 0,
            )
            for number in range(pods)
        ),
    )


def registration(holder: SnapshotHolder) -> server.Registration:
    return partial(
        snapshot_pb2_grpc.add_SnapshotSinkServiceServicer_to_server, SnapshotSinkServicer(holder)
    )


def a_guard() -> Guard:
    return Guard(
        table=AuthorizationTable(rows={ANYONE: frozenset({"*"})}),
        deadlines=CallDeadlines(),
        metrics=ServerMetrics(CollectorRegistry()),
    )


def a_port_to_come_back_to() -> int:
    """Return a free port that the system never hands out by itself.

    A server that restarts on a port of the ephemeral range may find it taken by a server of a test
    in another process, and gRPC lets the two share it.
    """
    first = 20_000 + os.getpid() * 37 % 9_000  # processes that start together keep apart
    for number in range(first, first + 37):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", number))
            except OSError:
                continue
            return number
    raise AssertionError("no port is free")


@contextlib.asynccontextmanager
async def sink(holder: SnapshotHolder, port: int = 0) -> AsyncIterator[str]:
    """Serve the holder; yield `host:port`."""
    serving = server.new_server(a_guard())
    registration(holder)(serving)
    bound = server.bind(serving, f"127.0.0.1:{port}", None)
    await serving.start()
    try:
        yield f"127.0.0.1:{bound}"
    finally:
        await serving.stop(None)


@contextlib.asynccontextmanager
async def pushing(
    outbox: SnapshotOutbox, channel: grpc.aio.Channel, clock: Clock | None = None
) -> AsyncIterator[tuple[SnapshotPusher, "asyncio.Task[None]"]]:
    """Run a pusher; yield it and the task that it runs in."""
    used = clock or SystemClock()
    policy = BackoffPolicy(first=timedelta(milliseconds=5), cap=timedelta(milliseconds=20))
    pusher = SnapshotPusher(
        channel,
        outbox,
        clock=used,
        backoff=Backoff(policy, used, Random(1)),
        policy=QUICK if clock is None else PushPolicy(),
    )
    task = asyncio.create_task(pusher.run(), name="pusher")
    try:
        yield pusher, task
    finally:
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=10)
        assert done, "the pusher does not let itself be cancelled"


@contextlib.asynccontextmanager
async def network() -> AsyncIterator[GrpcNetwork]:
    opened = GrpcNetwork(None, CallDeadlines())
    try:
        yield opened
    finally:
        await opened.close()


async def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds, ten seconds at most."""
    async with asyncio.timeout(10):
        while not holds():
            await SystemClock().sleep(timedelta(milliseconds=1))


async def arrived(holder: SnapshotHolder, snapshot: ClusterSnapshot) -> None:
    """Wait until the holder has the snapshot as its newest."""
    async with asyncio.timeout(10):
        seen: SnapshotId | None = None
        while seen != snapshot.id:
            newest = await holder.newer_than(snapshot.id.cluster_id, seen)
            seen = newest.id
        assert newest == snapshot
