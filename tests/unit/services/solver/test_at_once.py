"""Several questions at once get the answers that they get one after the other."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.domain.scenario import EditOfferings, Scenario, ScenarioAnswer
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions
from services.solver.columns import ColumnsCache
from services.solver.core.offers.market import NOTHING_REMEMBERED, Memory
from services.solver.core.simulating.simulate import base, simulate
from services.solver.core.solve import solve
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

_THREADS = 3
_REFINED = 20
_WITHOUT_SPOT = Scenario(
    name="without spot", edits=(EditOfferings(capacity_type="spot", available=False),)
)

Question = tuple[ClusterSnapshot, SolveOptions]
Answers = tuple[Solution, ScenarioAnswer]


@pytest.fixture(scope="module", autouse=True)
def _hardly_a_step_alone() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def _answers(question: Question, memory: Memory) -> Answers:
    snapshot, options = question
    start = base(snapshot, options, memory=memory)
    return solve(snapshot, options, memory=memory), simulate(start, _WITHOUT_SPOT)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(st.lists(mixed_clusters(), min_size=2, max_size=2))
def test_threads_that_share_a_memory_do_not_disturb_each_other(mixed: list[MixedCluster]) -> None:
    loaded = [load(one) for one in mixed]
    plain = [(one.snapshot, one.options) for one in loaded]
    refined = [(one, replace(options, refine_iterations=_REFINED)) for one, options in plain]
    # The same revisions at the same time, then others, then the same again when they are known.
    questions = [one for one in (*plain, *refined) for _ in range(_THREADS)] * 2
    expected = {id(one): _answers(one, NOTHING_REMEMBERED) for one in (*plain, *refined)}

    with ThreadPoolExecutor(_THREADS) as threads:
        memory = ColumnsCache(4).memory
        found = list(threads.map(_answers, questions, [memory] * len(questions)))

    assert found == [expected[id(one)] for one in questions]
