"""Which budgets have a say in an eviction."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain.eviction import PodBudgets
from libs.domain.workload import PodDisruptionBudget
from tests.support.builders import a_pod, a_shape, a_snapshot, selecting


def a_budget(name: str, **override: Any) -> PodDisruptionBudget:
    budget = PodDisruptionBudget(
        namespace="default", name=name, uid=name, selector=selecting(app="web")
    )
    return replace(budget, **override)


@pytest.mark.parametrize(
    ("budgets", "never"),
    [
        pytest.param([], False, id="no budget"),
        pytest.param([a_budget("a")], False, id="one that allows none now"),
        pytest.param([a_budget("a", never_satisfiable=True)], True, id="one that never will"),
        pytest.param([a_budget("a"), a_budget("b")], True, id="two"),
        pytest.param([a_budget("a"), a_budget("b", namespace="x")], False, id="one of them afar"),
        pytest.param([a_budget("a"), a_budget("b", selector=None)], False, id="one selects none"),
    ],
)
def test_a_pod_can_never_be_evicted(budgets: list[PodDisruptionBudget], never: bool) -> None:
    pod = a_pod("web")
    snapshot = a_snapshot(
        shapes=[a_shape(labels={"app": "web"})], pods=[pod], pod_disruption_budgets=budgets
    )

    assert PodBudgets(snapshot).forbid_for_ever(pod) is never


@pytest.mark.parametrize(
    ("ready", "budget", "found"),
    [
        pytest.param(True, {}, ["a"], id="none allowed"),
        pytest.param(True, {"disruptions_allowed": 1}, [], id="one allowed"),
        pytest.param(False, {"evicts_unhealthy_always": True}, [], id="unhealthy pods pass"),
        pytest.param(True, {"evicts_unhealthy_always": True}, ["a"], id="healthy ones do not"),
    ],
)
def test_a_budget_is_exhausted(ready: bool, budget: dict[str, Any], found: list[str]) -> None:
    pod = a_pod("web", ready=ready)
    snapshot = a_snapshot(
        shapes=[a_shape(labels={"app": "web"})],
        pods=[pod],
        pod_disruption_budgets=[a_budget("a", **budget)],
    )

    assert [one.name for one in PodBudgets(snapshot).exhausted(pod)] == found
