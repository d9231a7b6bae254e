"""Plans over random clusters in which pods are spread hold with all their nodes there."""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, settings

from libs.checker.plan import check_solution
from libs.oracle.check import Violation
from services.solver.core.solve import solve
from tests.support.mixed import Loaded, MixedCluster, load
from tests.support.strategies.spreads import spread_clusters

_REFINED = 40


def test_nobody_is_spread_as_if_nodes_of_the_same_plan_were_not_there() -> None:
    @settings(
        max_examples=150,
        derandomize=True,
        phases=(Phase.generate,),
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(spread_clusters())
    def check(mixed: MixedCluster) -> None:
        loaded = load(mixed)
        assert _violations(loaded, 0) == []
        assert _violations(loaded, _REFINED) == []

    check()


def _violations(loaded: Loaded, iterations: int) -> list[Violation]:
    options = replace(loaded.options, refine_iterations=iterations, seed=1)
    found = solve(loaded.snapshot, options)
    return check_solution(loaded.cluster, loaded.snapshot, found, daemon_sets=loaded.daemon_sets)
