"""A watcher's way to an answer, stage by stage: state, snapshot, push, question, assignment.

Apart from the watcher because it drives each step by hand and takes the time in between. What does
the work is the watcher's own: `ClusterState`, `SnapshotOutbox`, `SnapshotPusher`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import grpc
from joiner.solver.v1 import solver_pb2 as pb
from joiner.solver.v1 import solver_pb2_grpc

from benchmarks.catalogues import Sold
from benchmarks.process import CALL_LIMIT
from libs.clients.outbox import SnapshotOutbox
from libs.clients.pusher import PushPolicy, SnapshotPusher
from libs.clients.solver import SolverClient
from libs.cluster.state import ClusterState
from libs.domain.capacity import Catalogue
from libs.domain.errors import InvalidRequest
from libs.domain.plan import Candidate
from libs.domain.question import (
    ConsolidateQuestion,
    Consolidation,
    SimulateQuestion,
    SnapshotReference,
    SolveQuestion,
)
from libs.domain.scenario import Scenario, ScenarioAnswer
from libs.domain.snapshot import ClusterSnapshot, Epoch, SnapshotId, inconsistencies
from libs.domain.solution import SolveOptions
from libs.kube.objects.kinds import KubeObject
from libs.kube.objects.pod import Pod
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock, SystemClock
from libs.runtime.garbage import Spared
from libs.runtime.network import GrpcNetwork
from libs.runtime.randomness import Random
from libs.runtime.timeouts import CallDeadlines
from libs.wire.question import encode_solve_question

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
"""The instant of every decision."""

_CLUSTER = "home"
_SLOWEST_ANSWER = timedelta(minutes=10)
_SHOWN = 3
_HANDSHAKE = BackoffPolicy(first=timedelta(milliseconds=5), cap=timedelta(milliseconds=20))


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveBounds:
    """How much a consolidation may do."""

    node_budgets: tuple[tuple[str, int], ...] = ()
    """Most nodes to give up by pool."""
    most_moves: int | None = None
    move_price_nanos_per_hour: int = 0


class Session:
    """One cluster and its solver; made by `session`."""

    def __init__(self, channel: grpc.aio.Channel, sold: Sold, boot: str, clock: Clock) -> None:
        self.clock = clock
        self._spared = Spared()
        self._state = ClusterState()
        self._state.set_catalogue(
            Catalogue(
                node_class=sold.node_class,
                etag=boot,
                observed_at=NOW,
                instance_types=sold.instance_types,
                well_known_keys=sold.well_known_keys,
            )
        )
        self._epoch = Epoch(boot_id=boot)
        self._revision = 0
        self._made: ClusterSnapshot | None = None
        self._outbox = SnapshotOutbox()
        self._held: set[SnapshotId] = set()
        self._acknowledged = asyncio.Event()
        self._pushing: asyncio.Task[None] | None = None
        self._stub = solver_pb2_grpc.SolverServiceStub(channel)
        self._client = SolverClient(channel)
        self._pusher = SnapshotPusher(
            channel,
            self._outbox,
            clock=clock,
            backoff=Backoff(_HANDSHAKE, clock, Random(0)),
            policy=PushPolicy(answer=_SLOWEST_ANSWER),
            on_acknowledged=self._note,
        )

    async def close(self) -> None:
        """Stop pushing."""
        if self._pushing is not None:
            self._pushing.cancel()
            await asyncio.gather(self._pushing, return_exceptions=True)

    def ingest(self, objects: Iterable[KubeObject]) -> None:
        """Take objects in as the watcher does."""
        for one in objects:
            self._state.upsert(one)

    def forget(self, pods: Iterable[Pod]) -> None:
        """Take pods out again."""
        for one in pods:
            self._state.remove("Pod", one.metadata.namespace, one.metadata.name)

    def spare(self) -> None:
        """Keep what is known from the collector of cycles, as a watcher does after its lists."""
        self._spared.all_there_is()

    def snapshot(self) -> ClusterSnapshot:
        """Make a snapshot of what is known now.

        Raises:
            InvalidRequest: the workload is broken: something in it was set aside.
        """
        self._revision += 1
        number = SnapshotId(cluster_id=_CLUSTER, epoch=self._epoch, revision=self._revision)
        made = self._state.snapshot(NOW, number)
        problems = [f"{one.kind} {one.name}: {one.message}" for one in made.set_aside.values()]
        # As solvers do: what is shared with the snapshot before is not looked at again.
        if problems or (problems := list(inconsistencies(made, self._made))):
            raise InvalidRequest("; ".join(problems[:_SHOWN]), field="workload")
        self._made = made
        return made

    async def push(self, snapshot: ClusterSnapshot) -> None:
        """Push a snapshot and wait until the solver holds it."""
        if self._pushing is None:  # not before: who connects too early has to wait to try again
            self._pushing = asyncio.create_task(self._pusher.run(), name="push")
        self._outbox.put(snapshot)
        while snapshot.id not in self._held:
            self._acknowledged.clear()
            await self._acknowledged.wait()
        self._held = {snapshot.id}

    async def solve(self, snapshot: ClusterSnapshot, options: SolveOptions) -> pb.SolveResponse:
        """Ask about a snapshot that is held."""
        reference = SnapshotReference(cluster_id=_CLUSTER, id=snapshot.id)
        question = encode_solve_question(SolveQuestion(snapshot=reference, options=options))
        return await self._stub.Solve(question, timeout=CALL_LIMIT.total_seconds())

    async def simulate(
        self, snapshot: ClusterSnapshot, scenarios: Sequence[Scenario], options: SolveOptions
    ) -> list[ScenarioAnswer]:
        """Ask what-ifs about a snapshot that is held; the answers come as they finish."""
        question = SimulateQuestion(
            snapshot=SnapshotReference(cluster_id=_CLUSTER, id=snapshot.id),
            options=options,
            scenarios=tuple(scenarios),
        )
        return [answer async for answer in self._client.simulate(question)]

    async def consolidate(
        self, snapshot: ClusterSnapshot, candidates: Sequence[Candidate], bounds: MoveBounds
    ) -> Consolidation:
        """Ask which nodes of a snapshot that is held are best given up or replaced."""
        question = ConsolidateQuestion(
            snapshot=SnapshotReference(cluster_id=_CLUSTER, id=snapshot.id),
            candidates=tuple(candidates),
            node_budgets=bounds.node_budgets,
            move_price_nanos_per_hour=bounds.move_price_nanos_per_hour,
            max_moves=bounds.most_moves,
        )
        return await self._client.consolidate(question, deadline=CALL_LIMIT)

    def _note(self, number: SnapshotId) -> None:
        self._held.add(number)
        self._acknowledged.set()


def bins(message: pb.SolveResponse) -> dict[str, str]:
    """Return where each placed pod goes, by uid: a node, a claim in flight, a new claim."""
    found: dict[str, str] = {}
    for nomination in message.plan.nominations:
        found.update(dict.fromkeys(nomination.pod_uids, nomination.node or nomination.nodeclaim))
    for claim in message.plan.nodeclaims:
        found.update(dict.fromkeys(claim.pod_uids, f"new-{claim.index}"))
    return found


@contextlib.asynccontextmanager
async def session(address: str, sold: Sold, boot: str) -> AsyncIterator[Session]:
    """Give a session; what it keeps open is closed when the block ends.

    Args:
        address: where the solver listens.
        sold: the catalogue of its only node class.
        boot: tells this session from others of the same solver.
    """
    deadlines = CallDeadlines(unary=CALL_LIMIT)
    network = GrpcNetwork(None, deadlines)
    made = Session(network.channel(address), sold, boot, SystemClock())
    try:
        yield made
    finally:
        await made.close()
        await network.close()
