"""A solver and its peers in one process, joined by real sockets; threads and clock are real, too.

What a peer does can be seen from here, and it can be ended as a crash would. That peers are
processes is for `test_processes`.
"""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import grpc
from joiner.solver.v1 import solver_pb2_grpc

from libs.clients.outbox import SnapshotOutbox
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.runtime import server
from libs.runtime.app import App, Runtime
from libs.runtime.channel import DomainChannel
from libs.runtime.child import Child
from libs.runtime.clock import SystemClock
from libs.runtime.guard import Guard
from libs.runtime.metrics import ServerMetrics
from libs.runtime.serving import Listener, serve
from libs.runtime.timeouts import CallDeadlines
from services.solver.app import build
from services.solver.config import Settings
from services.solver.peer import build_peer
from tests.contract.snapshots.serving import eventually, network, pushing
from tests.support.builders import a_node, a_pod, a_shape, a_snapshot, pods
from tests.support.world import a_runtime

NODES = [f"node-{number}" for number in range(1, 7)]
MADE = a_snapshot(
    shapes=[a_shape(1), a_shape(2, cpu="300m")],
    pods=[*pods(30), *pods(5, 2), *(a_pod(f"on-{node}", node=node) for node in NODES)],
    nodes=[a_node(node) for node in NODES],
)
SNAPSHOT = replace(MADE, id=replace(MADE.id, cluster_id="home"))
ENDLESS = SolveOptions(refine_iterations=10**9)
"""Of this snapshot: no plan reaches the bound, so that the search goes on."""


@dataclass(slots=True, kw_only=True)
class RunningPeer:
    """A peer of this process; `end` is how it dies."""

    runtime: Runtime
    ended: "asyncio.Future[int]"
    end: Callable[[], Any]

    async def idle(self) -> None:
        """Wait until its only thread computes nothing."""
        await asyncio.get_running_loop().run_in_executor(self.runtime.executor, lambda: None)


@dataclass(slots=True, kw_only=True)
class CrewAtWork:
    """A solver that may have peers, and its client."""

    runtime: Runtime
    stub: Any
    started: list[RunningPeer] = field(default_factory=list)
    push: Callable[[ClusterSnapshot], Awaitable[None]]

    def begun(self) -> int:
        """How many questions, or parts of one, were begun anywhere."""
        return self.counted("here") + self.counted("peer")

    def counted(self, place: str) -> int:
        """How many questions were computed there."""
        value = self.runtime.metrics.get_sample_value("joiner_solver_calls_total", {"place": place})
        return int(value or 0)

    def processes(self) -> int:
        return int(self.runtime.metrics.get_sample_value("joiner_solver_processes") or 0)

    async def has_peer(self) -> None:
        await eventually(lambda: self.processes() > 1)


@contextlib.asynccontextmanager
async def crew_at_work(processes: int = 2) -> AsyncIterator[CrewAtWork]:
    """Run a solver that may have peers."""
    started: list[RunningPeer] = []

    @contextlib.asynccontextmanager
    async def spawn(module: str) -> AsyncIterator[Child]:
        assert module == "services.solver.peer"
        async with _peer() as (peer, child):
            started.append(peer)
            yield child

    made = replace(_runtime(4), spawn=spawn)
    async with (
        network() as dialled,
        _serving(build(Settings(processes=processes), made), made, "127.0.0.1:0") as listener,
    ):
        channel = dialled.channel(f"127.0.0.1:{listener.port}")
        outbox = SnapshotOutbox()
        async with pushing(outbox, channel) as (pusher, _):

            async def push(snapshot: ClusterSnapshot) -> None:
                outbox.put(snapshot)
                await eventually(lambda: pusher.state.acknowledged == snapshot.id)

            yield CrewAtWork(
                runtime=made,
                stub=solver_pb2_grpc.SolverServiceStub(channel),
                started=started,
                push=push,
            )


@contextlib.asynccontextmanager
async def _peer() -> AsyncIterator[tuple[RunningPeer, Child]]:
    runtime = _runtime(1)
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    with tempfile.TemporaryDirectory(prefix="joiner-") as folder:
        address = f"unix:{Path(folder) / 'grpc'}"
        async with _serving(build_peer(Settings(), runtime), runtime, address) as listener:
            below = grpc.aio.insecure_channel(address)
            channel = DomainChannel(lambda: below, CallDeadlines())

            async def end() -> None:
                await listener.server.stop(None)
                ended.set_result(-9)

            try:
                yield (
                    RunningPeer(runtime=runtime, ended=ended, end=end),
                    Child(pid=0, channel=channel, ended=lambda: asyncio.shield(ended)),
                )
            finally:
                await channel.close()


@contextlib.asynccontextmanager
async def _serving(app: App, runtime: Runtime, address: str) -> AsyncIterator[Listener]:
    guard = Guard(deadlines=CallDeadlines(), metrics=ServerMetrics(runtime.metrics))
    listening = server.new_server(guard)
    services = server.register(listening, app.servicers, runtime.health)
    port = server.bind(listening, address, None)
    listener = Listener(server=listening, guard=guard, services=services, port=port)
    stop = asyncio.Event()
    life = serve(app, (listener,), runtime.health, stop, runtime.settings.grace_period)
    task = asyncio.create_task(life)
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        runtime.executor.shutdown(wait=True)


def _runtime(threads: int) -> Runtime:
    return replace(a_runtime("solver"), clock=SystemClock(), executor=ThreadPoolExecutor(threads))
