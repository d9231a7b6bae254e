"""Who has gone away is computed for no longer: wherever it is noticed, that is where work ends."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from libs.domain.errors import Unavailable
from libs.domain.question import ExplainQuestion, SimulateQuestion, SolveQuestion, SubjectKind
from libs.domain.scenario import AddPods, RemoveNodes, Scenario
from libs.domain.solution import SolveOptions
from libs.snapshots.holder import SnapshotHolder
from libs.wire.question import (
    encode_consolidate_question,
    encode_explain_question,
    encode_simulate_question,
    encode_solve_question,
)
from services.solver import servicer
from services.solver.ahead import Ahead
from services.solver.columns import ColumnsCache
from services.solver.core.consolidating.consolidate import consolidate
from services.solver.core.explaining.explain import explain
from services.solver.core.simulating.simulate import base, simulate
from services.solver.core.simulating.watching import PODS_BETWEEN, watched
from services.solver.core.solve import solve
from services.solver.metrics import Metrics
from tests.support.builders import a_node, a_pod, a_shape, a_snapshot
from tests.support.fleets import a_fleet, a_machine, a_question
from tests.support.world import a_runtime

Cancelled = Callable[[], bool]

SHAPES = [a_shape(number, cpu=f"{100 + number}m") for number in range(1, 400)]
SNAPSHOT = a_snapshot(
    shapes=SHAPES,
    pods=[*(a_pod(f"pod-{one.id:03}", one.id) for one in SHAPES), a_pod("old", 1, node="node-1")],
    nodes=[a_node()],
)
FLEET = a_fleet(*(a_machine(f"n{number:02}", 1, 1) for number in range(12)))
REFINED = SolveOptions(refine_iterations=200)
DRAINED = Scenario(name="drained", edits=(RemoveNodes(names=("node-1",)),))

REQUESTS = {
    "Solve": encode_solve_question(SolveQuestion(snapshot=SNAPSHOT)),
    "Consolidate": encode_consolidate_question(a_question(FLEET)),
    "Explain": encode_explain_question(
        ExplainQuestion(snapshot=SNAPSHOT, subject_kind=SubjectKind.NODE, subject="node-1")
    ),
    "Simulate": encode_simulate_question(
        SimulateQuestion(snapshot=SNAPSHOT, scenarios=(DRAINED, DRAINED))
    ),
}

_MOST_MORE = 2
"""Looks that may follow the one that says so, while what is under way is left."""


class _Leaver:
    """Leaves after so many looks."""

    def __init__(self, after: int) -> None:
        self.looks = 0
        self._after = after

    def __call__(self) -> bool:
        self.looks += 1
        return self.looks > self._after


@pytest.mark.parametrize(
    "decide",
    [
        pytest.param(
            lambda cancelled: solve(SNAPSHOT, SolveOptions(), cancelled=cancelled), id="solve"
        ),
        pytest.param(
            lambda cancelled: solve(SNAPSHOT, REFINED, cancelled=cancelled), id="solve and refine"
        ),
        pytest.param(
            lambda cancelled: simulate(base(SNAPSHOT, REFINED), DRAINED, cancelled=cancelled),
            id="simulate",
        ),
        pytest.param(
            lambda cancelled: consolidate(FLEET, a_question(FLEET), cancelled=cancelled),
            id="consolidate",
        ),
        pytest.param(
            lambda cancelled: explain(
                SNAPSHOT,
                SolveOptions(),
                SubjectKind.POD_NAME,
                "default/pod-001",
                cancelled=cancelled,
            ),
            id="explain",
        ),
    ],
)
def test_work_ends_at_whichever_look_the_caller_is_gone(
    decide: Callable[[Cancelled], object],
) -> None:
    staying = _Leaver(10**9)
    decide(staying)

    for after in range(0, staying.looks, -(-staying.looks // 12)):
        leaver = _Leaver(after)
        with pytest.raises(Unavailable):
            decide(leaver)
        assert leaver.looks <= after + 1 + _MOST_MORE
    assert staying.looks > 1


@pytest.mark.parametrize("after", [0, 1, 3])
def test_few_pods_are_gone_through_after_the_caller_is_gone(after: int) -> None:
    leaver = _Leaver(after)
    pods_met = iter(range(PODS_BETWEEN * 10))

    with pytest.raises(Unavailable):
        list(watched(pods_met, leaver))

    assert next(pods_met) == after * PODS_BETWEEN


def test_all_that_a_what_if_does_with_many_pods_looks_now_and_then() -> None:
    many = 5 * PODS_BETWEEN
    start = base(SNAPSHOT, SolveOptions())
    looks = []
    for count in (1, many):
        staying = _Leaver(10**9)
        added = AddPods(shape=a_shape(1, cpu="1m"), count=count)
        simulate(start, Scenario(name="grown", edits=(added,)), cancelled=staying)
        looks.append(staying.looks)

    # Touched, put into a table, told as added, and where each of them went.
    assert looks[1] - looks[0] >= 4 * many // PODS_BETWEEN


@pytest.mark.parametrize("method", ["Solve", "Consolidate", "Explain", "Simulate"])
def test_a_call_that_is_cancelled_stops_its_thread(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    begun, ended = threading.Event(), threading.Event()

    def endless(*_given: object, cancelled: Cancelled, **_more: object) -> None:
        begun.set()
        while not cancelled():
            pass
        ended.set()

    monkeypatch.setattr(servicer, method.lower(), endless)

    async def calls() -> None:
        call = asyncio.ensure_future(_call(method))
        await asyncio.to_thread(begun.wait)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await asyncio.to_thread(ended.wait)
        assert call.cancelled()

    asyncio.run(calls())


async def _call(method: str) -> None:
    """Call a method of a servicer whose threads are real."""
    runtime = a_runtime("solver")
    holder = SnapshotHolder(clock=runtime.clock)
    columns, metrics = ColumnsCache(4), Metrics(runtime.metrics)
    ahead = Ahead(columns, runtime)
    asked = servicer.SolverServicer(holder, columns, ahead, metrics, runtime)
    answer = getattr(asked, method)(REQUESTS[method], None)
    if method == "Simulate":
        async for _ in answer:
            pass
    else:
        await answer
