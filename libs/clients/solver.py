"""The solver, asked over gRPC."""

from collections.abc import AsyncIterator
from datetime import timedelta

import grpc
from joiner.solver.v1 import solver_pb2_grpc

from libs.clients.call import responses, seconds
from libs.domain.explanation import Explanation
from libs.domain.question import (
    ConsolidateQuestion,
    Consolidation,
    ExplainQuestion,
    SimulateQuestion,
    SolveQuestion,
)
from libs.domain.scenario import ScenarioAnswer
from libs.domain.solution import Solution
from libs.wire.explanation import decode_explanation
from libs.wire.question import (
    decode_consolidation,
    encode_consolidate_question,
    encode_explain_question,
    encode_simulate_question,
    encode_solve_question,
)
from libs.wire.scenario import decode_scenario_answer
from libs.wire.solution import decode_solution


class SolverClient:
    """Asks one solver.

    Every method raises NotFound (no snapshot of that cluster), RevisionGone (not that revision: try
    another replica, then the latest), InvalidRequest, Forbidden, Unavailable.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = solver_pb2_grpc.SolverServiceStub(channel)

    async def solve(
        self, question: SolveQuestion, *, deadline: timedelta | None = None
    ) -> Solution:
        """Find a place for every waiting pod; a `deadline` of None is the channel's."""
        return decode_solution(
            await self._stub.Solve(encode_solve_question(question), timeout=seconds(deadline))
        )

    async def simulate(self, question: SimulateQuestion) -> AsyncIterator[ScenarioAnswer]:
        """Yield one answer per scenario, in the order in which they finish.

        Raises:
            Unsupported: the solver is older than this method.
        """
        call = self._stub.Simulate(encode_simulate_question(question))
        async for answer in responses(call, decode_scenario_answer):
            yield answer

    async def consolidate(
        self, question: ConsolidateQuestion, *, deadline: timedelta | None = None
    ) -> Consolidation:
        """Find the best nodes to give up or replace.

        Raises:
            Unsupported: the solver is older than this method.
        """
        return decode_consolidation(
            await self._stub.Consolidate(
                encode_consolidate_question(question), timeout=seconds(deadline)
            )
        )

    async def explain(
        self, question: ExplainQuestion, *, deadline: timedelta | None = None
    ) -> Explanation:
        """Ask why; a `deadline` of None is the channel's.

        Raises:
            NotFound: there is no such subject, too; the message has names that were perhaps meant.
            Unsupported: the solver is older than this method.
        """
        return decode_explanation(
            await self._stub.Explain(encode_explain_question(question), timeout=seconds(deadline))
        )
