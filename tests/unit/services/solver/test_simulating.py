"""What-ifs over gRPC in memory: streamed, named, each as the pure function answers it."""

from dataclasses import replace

import pytest

from libs.clients.solver import SolverClient
from libs.domain.errors import InvalidRequest, NotFound
from libs.domain.question import SimulateQuestion, SnapshotReference
from libs.domain.scenario import CordonNodes, EditOfferings, RemoveNodes, Scenario, ScenarioAnswer
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.runtime.virtual import run_virtual
from services.solver.app import build
from services.solver.config import Settings
from services.solver.core.simulating.simulate import base, simulate
from tests.support.builders import a_node, a_pod, a_snapshot, pods
from tests.support.world import World

ADDRESS = "solver:1"
SNAPSHOT = a_snapshot(pods=[*pods(3), a_pod("old", node="node-1")], nodes=[a_node()])
SCENARIOS = (
    Scenario(name="as it is"),
    Scenario(name="drained", edits=(RemoveNodes(names=("node-1",)),)),
    Scenario(name="", edits=(CordonNodes(names=("node-1",)),)),
    *(
        Scenario(name=f"without {zone}", edits=(EditOfferings(zone=zone, available=False),))
        for zone in ("zone-a", "zone-b", "zone-c")
    ),
)


async def _client(world: World) -> SolverClient:
    running = await world.start("solver", build, Settings(), ADDRESS)
    return SolverClient(running.runtime.network.channel(ADDRESS))


async def _answers(world: World, question: SimulateQuestion) -> list[ScenarioAnswer]:
    client = await _client(world)
    return [answer async for answer in client.simulate(question)]


def test_every_scenario_is_answered_as_the_pure_function_does() -> None:
    start = base(SNAPSHOT, SolveOptions())
    question = SimulateQuestion(snapshot=SNAPSHOT, scenarios=SCENARIOS * 3)

    async def scenario() -> None:
        async with World() as world:
            answers = await _answers(world, question)
            expected = [
                simulate(start, one, position) for position, one in enumerate(question.scenarios)
            ]
            assert sorted(answers, key=lambda one: one.position) == expected

    run_virtual(scenario())


def test_a_question_without_scenarios_has_no_answers() -> None:
    async def scenario() -> None:
        async with World() as world:
            assert await _answers(world, SimulateQuestion(snapshot=SNAPSHOT)) == []

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("snapshot", "error", "message"),
    [
        pytest.param(
            SnapshotReference(cluster_id="home"), NotFound, "home", id="a cluster nobody pushed"
        ),
        pytest.param(
            replace(SNAPSHOT, nodes={}), InvalidRequest, "snapshot.inline", id="leads nowhere"
        ),
        pytest.param(
            SNAPSHOT,
            InvalidRequest,
            r'scenarios\[1\].edits\[0\].remove_nodes.names\[0\]: there is no node "gone"',
            id="a bad edit",
        ),
    ],
)
def test_a_bad_question_is_refused(
    snapshot: ClusterSnapshot | SnapshotReference, error: type[Exception], message: str
) -> None:
    bad = Scenario(name="bad", edits=(RemoveNodes(names=("gone",)),))
    question = SimulateQuestion(snapshot=snapshot, scenarios=(Scenario(name="good"), bad))

    async def scenario() -> None:
        async with World() as world:
            with pytest.raises(error, match=message):
                await _answers(world, question)

    run_virtual(scenario())


def test_a_caller_may_leave_after_the_first_answer() -> None:
    question = SimulateQuestion(snapshot=SNAPSHOT, scenarios=SCENARIOS)

    async def scenario() -> None:
        async with World() as world:
            client = await _client(world)
            stream = client.simulate(question)
            async for _ in stream:
                break
            await stream.aclose()  # type: ignore[attr-defined]  # a generator
            answers = [one async for one in client.simulate(question)]
            assert len(answers) == len(SCENARIOS)

    run_virtual(scenario())
