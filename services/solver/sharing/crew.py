"""Who computes: this process, or one of its peers.

Most of a decision is Python, so two of them in one process take the time of two. A peer is another
process of this machine that runs the same solver and holds the same revisions of the home cluster;
it is started when questions overlap, and ended when it has not been needed for a while. Whoever is
alone with a question never pays for one.

Laws:
- An answer does not depend on who computes it, and a peer that is behind, busy or gone costs time,
  never an answer: what it does not answer is answered here.
- A peer is asked only about revisions that it has said it holds.
- No peer outlives this process (`libs.runtime.child`).
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NoReturn

from grpc_health.v1 import health_pb2
from joiner.solver.v1 import solver_pb2_grpc

from libs.clients.call import responses
from libs.clients.outbox import SnapshotOutbox
from libs.clients.pusher import SnapshotPusher
from libs.domain.errors import JoinerError, NotFound, Unavailable
from libs.domain.snapshot import SnapshotId
from libs.runtime import machine
from libs.runtime.app import Runtime
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.child import Child, Spawn
from libs.snapshots.holder import SnapshotHolder
from services.solver.metrics import CrewMetrics
from services.solver.warming import WARM

logger = logging.getLogger(__name__)

MODULE = "services.solver.peer"

_WATCH = "/grpc.health.v1.Health/Watch"
_REVISIONS = 4
"""As many as a peer's holder keeps."""
_STARTS_WITHIN = timedelta(minutes=2)
"""Longest time in which a peer is to be ready; for 150,000 pods it takes seconds."""
_RESTARTS = BackoffPolicy(cap=timedelta(minutes=5))
_ROOM = 1.5
"""How many times the memory of this process has to be free for a peer to be started."""
_LOOKS = 10
"""How often it is looked, within the time that makes a peer idle, whether it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrewPolicy:
    """When peers come and go."""

    processes: int
    """Most processes that compute, this one among them."""
    lasting: timedelta = timedelta(milliseconds=100)
    """How long questions have to overlap before that is worth a peer."""
    idle: timedelta = timedelta(minutes=10)
    """A peer that was not asked for so long is ended."""
    spare_bytes: Callable[[], int | None] = machine.spare_bytes
    resident_bytes: Callable[[], int] = machine.resident_bytes


@dataclass(slots=True, eq=False, kw_only=True)
class Peer:
    """A process that can be asked."""

    pid: int
    stub: solver_pb2_grpc.SolverServiceStub
    used_at: float
    """By the monotonic clock."""
    calls: int = 0
    """Being computed there for us."""
    held: deque[SnapshotId] = field(default_factory=lambda: deque(maxlen=_REVISIONS))
    """What it has said that it holds."""


class Crew:
    """This process and its peers; lives on one event loop."""

    def __init__(
        self,
        spawn: Spawn,
        holder: SnapshotHolder,
        runtime: Runtime,
        policy: CrewPolicy,
        metrics: CrewMetrics,
    ) -> None:
        self._spawn = spawn
        self._holder = holder
        self._runtime = runtime
        self._policy = policy
        self._metrics = metrics
        self._here = 0
        """Questions, or parts of one, that this process computes."""
        self._peers: list[Peer] = []
        self._started = 0
        """Processes that run, ready or not."""
        self._short = 0
        """Questions being computed that one more peer would have helped."""
        self._wanted = asyncio.Event()
        self._outbox = SnapshotOutbox()
        self._backoff = Backoff(_RESTARTS, runtime.clock, runtime.random)
        self._complaint = ""

    @property
    def peers(self) -> tuple[Peer, ...]:
        """Those that can be asked."""
        return tuple(self._peers)

    @contextlib.contextmanager
    def turns(self, about: SnapshotId | None, most: int = 1) -> Iterator[tuple[Peer | None, ...]]:
        """Take who computes a question while the block runs; None is this process.

        Args:
            about: the revision that is asked about; None where the question brings the snapshot.
            most: how many may share the work. Of those who compute nothing as many are taken, else
                who has least to do.
        """
        able = [one for one in self._peers if about is None or about in one.held]
        order = sorted([None, *able], key=self._calls)  # stable: this process goes first
        idle = [one for one in order if not self._calls(one)]
        with contextlib.ExitStack() as stack:
            if len(idle) < most and all(one.calls for one in self._peers):
                stack.enter_context(self._running_short())
            taken = tuple(idle[:most] or order[:1])
            for one in taken:
                stack.enter_context(self.computing(one))
            yield taken

    @contextlib.contextmanager
    def computing(self, peer: Peer | None) -> Iterator[None]:
        """Count a question as being computed by a peer, or with None here."""
        self._count(peer, 1)
        try:
            yield
        finally:
            self._count(peer, -1)

    async def run(self) -> None:
        """Start peers when they are wanted, and keep them at the newest revision; a root task."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._feed(), name="revisions for peers")
            while True:
                await self._wanted.wait()
                await self._runtime.clock.sleep(self._policy.lasting)
                self._wanted.clear()
                if self._short and self._may_start():
                    self._started += 1
                    group.create_task(self._employ(), name="peer")
                    await self._backoff.wait()

    def _calls(self, peer: Peer | None) -> int:
        return self._here if peer is None else peer.calls

    def _count(self, peer: Peer | None, change: int) -> None:
        if peer is None:
            self._here += change
        else:
            peer.calls += change
            peer.used_at = self._runtime.clock.monotonic()

    @contextlib.contextmanager
    def _running_short(self) -> Iterator[None]:
        self._short += 1
        self._wanted.set()
        try:
            yield
        finally:
            self._short -= 1

    def _may_start(self) -> bool:
        if self._started >= self._policy.processes - 1:
            return False
        spare = self._policy.spare_bytes()
        needed = int(self._policy.resident_bytes() * _ROOM)
        if spare is None or spare >= needed:
            return True
        self._complain("no memory for another process")
        return False

    async def _feed(self) -> NoReturn:
        """Put each new revision of the home cluster out for the peers, while there are any."""
        seen: SnapshotId | None = None
        while True:
            snapshot = await self._holder.newer_than(self._runtime.settings.cluster_id, seen)
            seen = snapshot.id
            if self._started and self._outbox.newest is not snapshot:
                self._outbox.put(snapshot)

    async def _employ(self) -> None:
        """Have one more peer until it is not needed any more, or ends."""
        if self._outbox.newest is None:
            with contextlib.suppress(NotFound):  # then questions bring their snapshots
                self._outbox.put(self._holder.latest(self._runtime.settings.cluster_id))
        try:
            async with self._spawn(MODULE) as child:
                await self._work_with(child)
        except (JoinerError, OSError) as error:
            self._complain(str(error))
        finally:
            self._started -= 1
            if not self._started:
                self._outbox = SnapshotOutbox()  # and forget what was encoded
            if self._short:
                self._wanted.set()

    async def _work_with(self, child: Child) -> None:
        runtime = self._runtime
        peer = Peer(
            pid=child.pid,
            stub=solver_pb2_grpc.SolverServiceStub(child.channel),
            used_at=runtime.clock.monotonic(),
        )
        pusher = SnapshotPusher(
            child.channel,
            self._outbox,
            clock=runtime.clock,
            backoff=runtime.backoff(),
            on_acknowledged=peer.held.append,
        )
        await _first_of(
            _end_of(child), _pushing(child, pusher), self._among_us(peer, child), name="peer"
        )

    async def _among_us(self, peer: Peer, child: Child) -> None:
        """Let a peer be asked from when it is ready until it has been idle for long."""
        clock = self._runtime.clock
        async with asyncio.timeout(_STARTS_WITHIN.total_seconds()):
            await child.channel.channel_ready()
            if self._outbox.newest is not None:
                await _serving(child, WARM)
        self._peers.append(peer)
        self._metrics.processes.inc()
        self._backoff.reset()
        self._complaint = ""
        logger.info("peer is ready", extra={"pid": peer.pid})
        try:
            peer.used_at = clock.monotonic()
            idle = self._policy.idle
            while peer.calls or clock.monotonic() < peer.used_at + idle.total_seconds():
                await clock.sleep(idle / _LOOKS)
            logger.info("peer is not needed any more", extra={"pid": peer.pid})
        finally:
            self._peers.remove(peer)
            self._metrics.processes.dec()

    def _complain(self, problem: str) -> None:
        if problem != self._complaint:
            self._complaint = problem
            logger.warning("no peer", extra={"error": problem})


async def _pushing(child: Child, pusher: SnapshotPusher) -> None:
    await child.channel.channel_ready()  # who connects too early has to wait to try again
    await pusher.run()


async def _end_of(child: Child) -> None:
    raise Unavailable(f"a peer ended with status {await child.ended()}")


async def _serving(child: Child, name: str) -> None:
    """Wait until a health name of a peer is served."""
    watch: Any = child.channel.unary_stream(
        _WATCH,
        health_pb2.HealthCheckRequest.SerializeToString,
        health_pb2.HealthCheckResponse.FromString,
    )
    call = watch(health_pb2.HealthCheckRequest(service=name))
    async with contextlib.aclosing(responses(call, lambda one: one.status)) as statuses:
        async for status in statuses:
            if status == health_pb2.HealthCheckResponse.SERVING:
                return
    raise Unavailable("a peer ended before it was ready")


async def _first_of(*work: Coroutine[Any, Any, None], name: str) -> None:
    """Run all until the first of them ends, then none."""
    tasks = [asyncio.create_task(one, name=name) for one in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
