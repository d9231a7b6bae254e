"""Laws of every plan, over random small clusters with all kinds of constraints mixed."""

from hypothesis import given, settings

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import a_snapshot
from tests.support.strategies.small import clusters
from tests.unit.services.solver.core.plan_check import overlooked, violations

SETTINGS = settings(
    max_examples=150,
    derandomize=True,
)


@SETTINGS
@given(clusters())
def test_no_plan_breaks_a_hard_rule(snapshot: ClusterSnapshot) -> None:
    assert violations(snapshot, solve(snapshot, SolveOptions())) == []


@SETTINGS
@given(clusters())
def test_nobody_is_left_over_who_would_fit_alone(snapshot: ClusterSnapshot) -> None:
    assert overlooked(snapshot, solve(snapshot, SolveOptions())) == []


@SETTINGS
@given(clusters())
def test_what_is_left_over_says_why_for_every_pool(snapshot: ClusterSnapshot) -> None:
    plan = solve(snapshot, SolveOptions()).plan

    for unplaced in plan.unplaced:
        assert {one.target for one in unplaced.reason.rejections} == set(snapshot.nodepools)
        assert sum(count for _, count in unplaced.reason.existing) == len(snapshot.nodes)


def test_no_pods_make_an_empty_plan() -> None:
    solution = solve(a_snapshot(pods=()), SolveOptions())

    assert (solution.plan.nodeclaims, solution.plan.nominations) == ((), ())
    assert solution.pods.waiting == 0
