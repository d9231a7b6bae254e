"""gRPC edge of a process that has peers: each question goes to who has least to do.

Apart from `SolverServicer`, which answers, because this one only chooses, asks on, and answers here
what a peer did not. Cancellation and deadlines reach a peer as they reach any server of gRPC.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any, NamedTuple

import grpc
from joiner.solver.v1 import solver_pb2 as pb
from joiner.solver.v1 import solver_pb2_grpc

from libs.clients.call import responses
from libs.domain.errors import InvalidRequest, JoinerError, NotFound, RevisionGone
from libs.domain.snapshot import SnapshotId
from libs.runtime.app import Runtime
from libs.snapshots.holder import SnapshotHolder
from libs.wire.field import at
from libs.wire.question import decode_positions, decode_snapshot_reference, pin_revision
from libs.wire.snapshot import decode_snapshot_id
from libs.wire.solution import unschedulable_pods
from services.solver.metrics import CrewMetrics, Metrics, Place
from services.solver.servicer import SolverServicer
from services.solver.sharing.crew import Crew, Peer
from services.solver.streaming import merged

_SLACK_SECONDS = 1.0
"""A peer's deadline is so much later than the caller's, which this process keeps: so a peer that
answers in time is never taken for one that failed."""

Context = grpc.aio.ServicerContext[Any, Any]
Unary = pb.SolveRequest | pb.ConsolidateRequest | pb.ExplainRequest


class Watched(NamedTuple):
    """Where it is told what is done."""

    home: Metrics
    crew: CrewMetrics


class SharingServicer(solver_pb2_grpc.SolverServiceServicer):
    """Serves SolverService by whoever of a crew has least to do."""

    def __init__(
        self,
        here: SolverServicer,
        crew: Crew,
        holder: SnapshotHolder,
        runtime: Runtime,
        watched: Watched,
    ) -> None:
        self._here = here
        self._crew = crew
        self._holder = holder
        self._runtime = runtime
        self._watched = watched

    async def Solve(self, request: pb.SolveRequest, context: Context) -> pb.SolveResponse:
        """Find a place for every waiting pod."""
        answer: pb.SolveResponse = await self._by_one("Solve", request, context)
        return answer

    async def Simulate(
        self, request: pb.SimulateRequest, context: Context
    ) -> AsyncIterator[pb.SimulateResponse]:
        """Answer what-ifs as they are found, in as many processes as are idle."""
        about = self._about(request.snapshot)
        positions = decode_positions(request)
        # A snapshot that comes with the question would have to be read by each of them.
        most = 1 if about is None else max(1, len(positions))
        with self._crew.turns(about, most) as taken:
            parts = [
                self._part(one, _only(request, positions[first :: len(taken)]), context)
                for first, one in enumerate(taken)
            ]
            async with contextlib.aclosing(merged(parts)) as answers:
                async for answer in answers:
                    yield answer

    async def Consolidate(
        self, request: pb.ConsolidateRequest, context: Context
    ) -> pb.ConsolidateResponse:
        """Find the best nodes to give up or replace."""
        answer: pb.ConsolidateResponse = await self._by_one("Consolidate", request, context)
        return answer

    async def Explain(self, request: pb.ExplainRequest, context: Context) -> pb.ExplainResponse:
        """Say why a pod has no place, what a node or a pool is and does."""
        answer: pb.ExplainResponse = await self._by_one("Explain", request, context)
        return answer

    async def _by_one(self, method: str, request: Unary, context: Context) -> Any:
        about = self._about(request.snapshot)
        with self._crew.turns(about) as (peer,):
            if peer is None:
                return await self._by_us(method, request, context)
            with _unless_answered():
                return await self._by_peer(peer, method, request, context)
        self._count(Place.RETURNED)
        with self._crew.computing(None):
            return await self._by_us(method, request, context)

    async def _by_us(self, method: str, request: Unary, context: Context) -> Any:
        self._count(Place.HERE)
        return await getattr(self._here, method)(request, context)

    async def _by_peer(self, peer: Peer, method: str, request: Unary, context: Context) -> Any:
        clock = self._runtime.clock
        begun, limit = clock.monotonic(), self._runtime.settings.call_limit.total_seconds()
        self._count(Place.PEER)
        answer = await getattr(peer.stub, method)(request, timeout=_span(context, limit))
        if isinstance(answer, pb.SolveResponse):
            self._observe(answer, clock.monotonic() - begun)
        return answer

    async def _part(
        self, peer: Peer | None, request: pb.SimulateRequest, context: Context
    ) -> AsyncGenerator[pb.SimulateResponse, None]:
        left = dict.fromkeys(decode_positions(request))
        if peer is not None:
            self._count(Place.PEER)
            limit = self._runtime.settings.stream_lifetime.total_seconds()
            with _unless_answered():
                call = peer.stub.Simulate(request, timeout=_span(context, limit))
                async with contextlib.aclosing(responses(call, _as_it_is)) as answers:
                    async for answer in answers:
                        del left[answer.position]
                        yield answer
            if not left:
                return
            self._count(Place.RETURNED)
        self._count(Place.HERE)
        with self._crew.computing(None) if peer is not None else contextlib.nullcontext():
            rest = self._here.Simulate(_only(request, tuple(left)), context)
            async with contextlib.aclosing(rest) as answers:
                async for answer in answers:
                    yield answer

    def _about(self, source: pb.SnapshotSelector) -> SnapshotId | None:
        """Return the revision that is asked about, None where the question brings the snapshot.

        The newest is named: it may be another one in a moment, or elsewhere.
        """
        reference = at("snapshot", source, decode_snapshot_reference)
        if reference is None:
            return None
        if reference.id is not None:
            return reference.id
        newest = self._holder.latest(reference.cluster_id).id
        pin_revision(source, newest)
        return newest

    def _observe(self, answer: pb.SolveResponse, seconds: float) -> None:
        """Record a decision of a peer about the home cluster: its own series are read by nobody."""
        solution = decode_snapshot_id(answer.snapshot)
        if solution.cluster_id == self._runtime.settings.cluster_id:
            with contextlib.suppress(NotFound, RevisionGone):
                snapshot = self._holder.revision(solution)
                self._watched.home.observe(snapshot, unschedulable_pods(answer), seconds)

    def _count(self, place: Place) -> None:
        self._watched.crew.calls.labels(place).inc()


@contextlib.contextmanager
def _unless_answered() -> Iterator[None]:
    """Go on after what a peer ends with, where that is no answer.

    A question that is wrong is wrong everywhere. All else that a peer says may be its own: that it
    is gone, is behind, or has been started from other files than we were.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    try:
        yield
    except InvalidRequest:
        raise
    except JoinerError:
        return
    except asyncio.CancelledError:  # so does a call end whose channel is closed
        if task is None or task.cancelling() > before:
            raise


def _span(context: Context, limit: float) -> float:
    """Return how long a peer has, in seconds: as long as the caller waits, with a little more."""
    given: float | None = context.time_remaining()
    return (limit if given is None else given) + _SLACK_SECONDS


def _only(request: pb.SimulateRequest, positions: tuple[int, ...]) -> pb.SimulateRequest:
    """Return the request for these of its scenarios."""
    if positions == decode_positions(request):
        return request
    made = pb.SimulateRequest()
    made.CopyFrom(request)
    made.positions[:] = positions
    return made


def _as_it_is(message: pb.SimulateResponse) -> pb.SimulateResponse:
    return message
