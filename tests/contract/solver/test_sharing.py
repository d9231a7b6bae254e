"""Questions that overlap are shared with peers, and no peer can spoil one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
import pytest
from joiner.solver.v1 import solver_pb2 as pb

from libs.domain.errors import InvalidRequest, Unavailable
from libs.domain.question import SimulateQuestion, SnapshotReference, SolveQuestion
from libs.domain.scenario import RemoveNodes, Scenario
from libs.domain.solution import SolveOptions
from libs.wire.question import encode_simulate_question, encode_solve_question
from libs.wire.solution import decode_solution
from services.solver.core.solve import solve
from tests.contract.snapshots.serving import eventually
from tests.contract.solver.crews import ENDLESS, NODES, SNAPSHOT, CrewAtWork, crew_at_work

SCENARIOS = tuple(Scenario(name=node, edits=(RemoveNodes(names=(node,)),)) for node in NODES)
NEWEST = SnapshotReference(cluster_id="home")


PLAIN = SolveOptions()


def asking(options: SolveOptions = PLAIN) -> pb.SolveRequest:
    return encode_solve_question(SolveQuestion(snapshot=NEWEST, options=options))


def what_if(
    scenarios: tuple[Scenario, ...] = SCENARIOS, positions: tuple[int, ...] = ()
) -> pb.SimulateRequest:
    question = SimulateQuestion(snapshot=NEWEST, scenarios=scenarios, positions=positions)
    return encode_simulate_question(question)


@contextlib.asynccontextmanager
async def two_at_work() -> AsyncIterator[CrewAtWork]:
    """A solver that holds the snapshot, and has a peer that does, too."""
    async with crew_at_work() as crew:
        await crew.push(SNAPSHOT)
        async with busy(crew), busy(crew):
            await crew.has_peer()
        yield crew


@contextlib.asynccontextmanager
async def busy(crew: CrewAtWork) -> AsyncIterator[None]:
    """Keep one process busy for as long as the block runs."""
    before = crew.begun()
    call = crew.stub.Solve(asking(ENDLESS), timeout=60)
    waiting = asyncio.ensure_future(_ends(call))
    await eventually(lambda: crew.begun() > before)
    try:
        yield
    finally:
        call.cancel()
        await waiting


async def _ends(call: Any) -> None:
    with contextlib.suppress(Unavailable, asyncio.CancelledError):
        await call


async def _answers(call: Any) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    async for answer in call:
        assert answer.position not in found
        found[answer.position] = answer.SerializeToString(deterministic=True)
    return found


async def test_who_asks_alone_has_no_peer() -> None:
    async with crew_at_work() as crew:
        await crew.push(SNAPSHOT)
        for _ in range(20):
            await crew.stub.Solve(asking(), timeout=10)

        assert crew.started == []
        assert (crew.counted("here"), crew.counted("peer")) == (20, 0)


async def test_who_asks_while_another_is_answered_is_answered_by_a_peer_in_the_same_bytes() -> None:
    async with two_at_work() as crew:
        alone = await crew.stub.Solve(asking(), timeout=10)
        handed = crew.counted("peer")
        async with busy(crew):
            beside = await crew.stub.Solve(asking(), timeout=10)

        assert crew.counted("peer") == handed + 1
        assert beside.SerializeToString(deterministic=True) == alone.SerializeToString(
            deterministic=True
        )
        assert decode_solution(beside) == solve(SNAPSHOT, PLAIN)


async def test_what_a_peer_decides_about_the_home_cluster_is_measured() -> None:
    async with two_at_work() as crew:
        name = "karpenter_scheduler_scheduling_duration_seconds_count"
        labels = {"controller": "provisioner"}
        before = crew.runtime.metrics.get_sample_value(name, labels) or 0
        async with busy(crew):
            await crew.stub.Solve(asking(), timeout=10)

        assert crew.runtime.metrics.get_sample_value(name, labels) == before + 1


async def test_what_a_peer_does_not_answer_is_answered_here() -> None:
    async with two_at_work() as crew, busy(crew):
        begun = crew.begun()
        long = SolveOptions(refine_iterations=20_000)
        asked = asyncio.ensure_future(_awaited(crew.stub.Solve(asking(long), timeout=30)))
        await eventually(lambda: crew.begun() > begun)

        await crew.started[0].end()
        answer = await asked

        assert crew.counted("returned") == 1
        assert decode_solution(answer) == solve(SNAPSHOT, long)


async def test_what_fails_in_a_peer_alone_is_answered_here() -> None:
    async with two_at_work() as crew, busy(crew):
        crew.started[0].runtime.executor.shutdown()

        answer = await crew.stub.Solve(asking(), timeout=10)

        assert crew.counted("returned") == 1
        assert decode_solution(answer) == solve(SNAPSHOT, PLAIN)


async def test_after_a_peer_that_ended_comes_another() -> None:
    async with two_at_work() as crew:
        await crew.started[0].end()
        await eventually(lambda: crew.processes() == 1)
        async with busy(crew), busy(crew):
            await crew.has_peer()

        assert len(crew.started) == 2


@pytest.mark.parametrize("leaves", [True, False], ids=["who leaves", "a deadline"])
async def test_a_peer_stops_computing_for_nobody(leaves: bool) -> None:
    async with two_at_work() as crew, busy(crew):
        begun = crew.begun()
        call = crew.stub.Solve(asking(ENDLESS), timeout=60 if leaves else 0.2)
        asked = asyncio.ensure_future(_ends(call))
        await eventually(lambda: crew.begun() > begun)
        if leaves:
            call.cancel()
        await asked

        await crew.started[0].idle()

        assert crew.counted("returned") == 0


async def test_the_newest_is_the_newest_whoever_answers() -> None:
    async with two_at_work() as crew, busy(crew):
        for revision in range(2, 22):
            newest = replace(SNAPSHOT, id=replace(SNAPSHOT.id, revision=revision))
            await crew.push(newest)
            answer = await crew.stub.Solve(asking(), timeout=10)
            assert decode_solution(answer).snapshot == newest.id


async def test_what_ifs_of_one_question_are_shared() -> None:
    async with two_at_work() as crew:
        async with busy(crew):
            alone = await _answers(crew.stub.Simulate(what_if(), timeout=10))
        before = (crew.counted("here"), crew.counted("peer"))

        shared = await _answers(crew.stub.Simulate(what_if(), timeout=10))

        assert (crew.counted("here"), crew.counted("peer")) == (before[0] + 1, before[1] + 1)
        assert sorted(shared) == list(range(len(SCENARIOS)))
        assert shared == alone


async def test_what_ifs_that_a_peer_left_are_answered_here_once() -> None:
    async with two_at_work() as crew:
        many = SCENARIOS * 30
        call = crew.stub.Simulate(what_if(many), timeout=30)
        met = [(await call.read()).position]

        await crew.started[0].end()
        while (answer := await call.read()) is not grpc.aio.EOF:
            met.append(answer.position)

        assert sorted(met) == list(range(len(many)))
        assert crew.counted("returned") == 1


async def test_a_bad_what_if_is_named_by_its_place_in_the_question_whoever_meets_it() -> None:
    bad = Scenario(name="bad", edits=(RemoveNodes(names=("gone",)),))
    async with two_at_work() as crew:
        for position in (3, 4):
            asked = (*SCENARIOS[:position], bad, *SCENARIOS[position:])
            with pytest.raises(InvalidRequest, match=rf"scenarios\[{position}\].edits\[0\]"):
                await _answers(crew.stub.Simulate(what_if(asked), timeout=10))


async def test_only_the_positions_that_are_named_are_answered() -> None:
    async with two_at_work() as crew:
        found = await _answers(crew.stub.Simulate(what_if(positions=(4, 1, 2)), timeout=10))
        assert sorted(found) == [1, 2, 4]
        with pytest.raises(InvalidRequest, match=r"positions\[1\]"):
            await _answers(crew.stub.Simulate(what_if(positions=(1, 6)), timeout=10))


async def _awaited(call: Any) -> pb.SolveResponse:
    answer: pb.SolveResponse = await call
    return answer
