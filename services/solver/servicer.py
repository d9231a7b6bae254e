"""gRPC edge: find the snapshot, decide off the event loop, encode."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

import grpc
from joiner.solver.v1 import solver_pb2 as pb
from joiner.solver.v1 import solver_pb2_grpc

from libs.domain.errors import InvalidRequest
from libs.domain.question import SnapshotSource
from libs.domain.scenario import Scenario
from libs.domain.snapshot import ClusterSnapshot, inconsistencies
from libs.domain.solution import Solution, SolveOptions
from libs.runtime.app import Runtime
from libs.runtime.budget import spending
from libs.snapshots.holder import SnapshotHolder
from libs.wire.explanation import encode_explanation
from libs.wire.question import (
    decode_consolidate_question,
    decode_explain_question,
    decode_simulate_question,
    decode_solve_question,
    encode_consolidation,
)
from libs.wire.scenario import encode_scenario_answer
from libs.wire.solution import encode_solution
from services.solver.ahead import Ahead
from services.solver.columns import ColumnsCache
from services.solver.core.consolidating.consolidate import consolidate
from services.solver.core.explaining.explain import explain
from services.solver.core.simulating.simulate import base, simulate
from services.solver.core.simulating.watching import look
from services.solver.core.solve import decide, solve
from services.solver.metrics import Metrics
from services.solver.streaming import as_finished

_PROBLEMS_SHOWN = 3
_AT_ONCE = 2
"""Scenarios of one call that are begun at a time: one may have Python while the other is in the
kernel. More would come no sooner together, the first of them later, and keep others waiting."""

T = TypeVar("T")


class SolverServicer(solver_pb2_grpc.SolverServiceServicer):
    """Serves SolverService; keeps nothing between calls but columns of catalogues."""

    def __init__(
        self,
        holder: SnapshotHolder,
        columns: ColumnsCache,
        ahead: Ahead,
        metrics: Metrics,
        runtime: Runtime,
    ) -> None:
        self._holder = holder
        self._columns = columns
        self._ahead = ahead
        self._metrics = metrics
        self._runtime = runtime

    async def Solve(
        self, request: pb.SolveRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.SolveResponse:
        """Find a place for every waiting pod."""
        question = await self._runtime.compute(decode_solve_question, request)
        snapshot = self._snapshot(question.snapshot)
        solution = await self._solve(snapshot, question.options)
        answer = await self._runtime.compute(encode_solution, solution)
        # At the next turn of the loop: by then it has been sent.
        asyncio.get_running_loop().call_soon(self._runtime.tidy)
        return answer

    async def Simulate(
        self, request: pb.SimulateRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncGenerator[pb.SimulateResponse, None]:
        """Answer what-ifs as they are found, some at a time; whoever leaves stops them all."""
        question = await self._runtime.compute(decode_simulate_question, request)
        snapshot = self._snapshot(question.snapshot)
        start = await self._runtime.compute(
            base, snapshot, question.options, memory=self._columns.memory
        )
        gone = threading.Event()

        async def answered(position: int, scenario: Scenario) -> pb.SimulateResponse:
            spent = spending(question.options.refine_budget)
            decide = partial(simulate, cancelled=gone.is_set, spent=spent)

            def work() -> pb.SimulateResponse:
                answer = decide(start, scenario, position)
                look(gone.is_set)
                return encode_scenario_answer(answer)

            return await self._runtime.compute(work)

        asked = question.positions or range(len(question.scenarios))
        work = (partial(answered, one, question.scenarios[one]) for one in asked)
        try:
            async with aclosing(as_finished(work, most=_AT_ONCE)) as answers:
                async for answer in answers:
                    yield answer
        finally:
            gone.set()

    async def Consolidate(
        self, request: pb.ConsolidateRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ConsolidateResponse:
        """Find the best nodes to give up or replace."""
        question = await self._runtime.compute(decode_consolidate_question, request)
        snapshot = self._snapshot(question.snapshot)
        answer = await self._decide(consolidate, snapshot, question)
        return await self._runtime.compute(encode_consolidation, answer)

    async def Explain(
        self, request: pb.ExplainRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.ExplainResponse:
        """Say why a pod has no place, what a node or a pool is and does."""
        question = await self._runtime.compute(decode_explain_question, request)
        snapshot = self._snapshot(question.snapshot)
        answer = await self._decide(
            explain, snapshot, question.options, question.subject_kind, question.subject
        )
        return await self._runtime.compute(encode_explanation, answer)

    async def _solve(self, snapshot: ClusterSnapshot, options: SolveOptions) -> Solution:
        clock = self._runtime.clock
        begun = clock.monotonic()
        question = partial(solve, snapshot, options)
        if there := self._ahead.take(snapshot, options):
            question = partial(decide, there.encoded, first=there.packer)
        refining = partial(question, spent=spending(options.refine_budget))
        solution = await self._decide(refining)
        if snapshot.id.cluster_id == self._runtime.settings.cluster_id:
            unplaced = solution.plan.unplaced
            lost = sum(len(one.pod_uids) for one in unplaced if not one.reason.deferred)
            self._metrics.observe(snapshot, lost, clock.monotonic() - begun)
        return solution

    async def _decide(self, decide: Callable[..., T], *arguments: object) -> T:
        """Return a decision, made off the event loop, of what takes a memory and a way to stop."""
        gone = threading.Event()
        try:
            return await self._runtime.compute(
                decide, *arguments, memory=self._columns.memory, cancelled=gone.is_set
            )
        finally:
            # A caller who left or ran out of time cancels this; the thread then stops computing.
            gone.set()

    def _snapshot(self, source: SnapshotSource) -> ClusterSnapshot:
        if isinstance(source, ClusterSnapshot):
            if problems := inconsistencies(source):
                raise InvalidRequest("; ".join(problems[:_PROBLEMS_SHOWN]), field="snapshot.inline")
            return source
        if source.id is None:
            return self._holder.latest(source.cluster_id)
        return self._holder.revision(source.id)
