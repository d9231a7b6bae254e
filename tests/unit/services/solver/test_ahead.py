"""What is made ready as it arrives, for whom, and for how many decisions."""

from dataclasses import replace
from datetime import timedelta

import pytest

from libs.domain.pod_table import PodTable
from libs.domain.snapshot import ClusterSnapshot, PushResult, full
from libs.domain.solution import PreferencePolicy, SolveOptions
from libs.runtime.virtual import run_virtual
from libs.snapshots.holder import SnapshotHolder
from services.solver import ahead
from services.solver.ahead import Ahead
from services.solver.columns import ColumnsCache
from services.solver.core import packed
from services.solver.core.packing.encode import Encoded, problem
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.grouping import Group
from services.solver.core.solve import decide, solve
from tests.support.builders import a_snapshot, pods
from tests.support.world import a_runtime

ASKED = SolveOptions(refine_budget=timedelta(seconds=1), seed=3)
OTHERWISE = SolveOptions(preference_policy=PreferencePolicy.IGNORE)


def a_revision(number: int, cluster_id: str = "home") -> ClusterSnapshot:
    snapshot = a_snapshot(pods=pods(3 + number))
    return replace(snapshot, id=replace(snapshot.id, cluster_id=cluster_id, revision=number))


def pushed(
    *snapshots: ClusterSnapshot, asked: SolveOptions | None = ASKED
) -> tuple[Ahead, ClusterSnapshot]:
    """Push the snapshots, with a question before each but the first; return what is held then."""

    async def scenario() -> tuple[Ahead, ClusterSnapshot]:
        runtime = a_runtime("solver")
        found = Ahead(ColumnsCache(4), runtime)
        holder = SnapshotHolder(clock=runtime.clock, look=found.look)
        for snapshot in snapshots:
            assert await holder.accept("watcher", full(snapshot), 1) is PushResult.HELD
            if asked is not None and snapshot is not snapshots[-1]:
                found.take(snapshot, asked)
        return found, holder.latest(snapshots[-1].id.cluster_id)

    return run_virtual(scenario())


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(ASKED, id="as before"),
        pytest.param(SolveOptions(refine_iterations=2, seed=9), id="refined otherwise"),
    ],
)
def test_a_revision_is_made_ready_for_whoever_asks_as_the_one_before_was(
    options: SolveOptions,
) -> None:
    ready, held = pushed(a_revision(1), a_revision(2))

    there = ready.take(held, options)

    assert there is not None
    found = decide(there.encoded, first=there.packer)
    assert found == solve(held, options)
    assert found.options == options


def test_packing_is_begun_ahead_for_the_first_question_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = []

    def counted(encoded: Encoded, groups: tuple[Group, ...]) -> Problem:
        begun.append(groups)
        return problem(encoded, groups)

    monkeypatch.setattr(packed, "problem", counted)
    ready, held = pushed(a_revision(1), a_revision(2))
    assert len(begun) == 1

    found = []
    for _ in range(2):
        there = ready.take(held, ASKED)
        assert there is not None
        found.append(decide(there.encoded, first=there.packer))

    assert len(begun) == 2
    assert found[0] == found[1]


def test_nothing_is_begun_where_nobody_waits() -> None:
    ready, held = pushed(a_revision(1), replace(a_revision(2), pods=PodTable()))

    there = ready.take(held, ASKED)

    assert there is not None
    assert there.packer is None


@pytest.mark.parametrize(
    ("cluster_id", "before", "now"),
    [
        pytest.param("home", ASKED, OTHERWISE, id="other options"),
        pytest.param("home", None, ASKED, id="nobody had asked"),
        pytest.param("away", ASKED, ASKED, id="not at home"),
    ],
)
def test_nothing_is_made_ready_for_others(
    cluster_id: str, before: SolveOptions | None, now: SolveOptions
) -> None:
    revisions = (a_revision(number, cluster_id) for number in (1, 2))
    ready, held = pushed(*revisions, asked=before)

    assert ready.take(held, now) is None


def test_an_equal_snapshot_is_not_taken_for_the_one_that_was_pushed() -> None:
    ready, _ = pushed(a_revision(1), a_revision(2))

    assert ready.take(a_revision(2), ASKED) is None


def test_a_revision_is_held_even_if_it_cannot_be_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> Encoded:
        raise ValueError("odd")

    monkeypatch.setattr(ahead, "encode", failing)

    ready, held = pushed(a_revision(1), a_revision(2))

    assert held.id.revision == 2
    assert ready.take(held, ASKED) is None
