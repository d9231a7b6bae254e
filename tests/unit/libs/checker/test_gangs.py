"""Pods that only ask if there is room."""

import pytest

from libs.checker.gangs import bought_in_vain
from libs.domain.plan import Plan
from libs.domain.solution import SolveOptions
from libs.domain.workload import Gang
from services.solver.core.solve import solve
from tests.support.builders import a_snapshot, pods


def bought_for(gang: str) -> Plan:
    return solve(a_snapshot(pods=pods(1, gang=gang)), SolveOptions()).plan


@pytest.mark.parametrize(
    ("existing_only", "told"),
    [pytest.param(True, True, id="only asks"), pytest.param(False, False, id="may buy")],
)
def test_a_node_bought_for_a_pod_that_only_asks_is_named(existing_only: bool, told: bool) -> None:
    gang = Gang(namespace="default", name="job", min_members=1, existing_only=existing_only)
    snapshot = a_snapshot(pods=pods(1, gang=gang.key), gangs=[gang])

    found = list(bought_in_vain(snapshot, bought_for("")))

    assert [(one.rule, one.pod) for one in found] == [("Gang", "default/s1-00001")] * told


def test_the_solver_buys_nothing_for_pods_that_only_ask() -> None:
    gang = Gang(namespace="default", name="job", min_members=1, existing_only=True)
    snapshot = a_snapshot(pods=pods(1, gang=gang.key), gangs=[gang])

    assert solve(snapshot, SolveOptions()).plan.nodeclaims == ()
