"""What is counted against budgets, and what they leave."""

from typing import Any

import pytest

from libs.domain.budget import UNLIMITED
from libs.domain.nodeclaim import ClaimCommand, ConditionType
from libs.domain.nodepool import Budget, DisruptionReason
from services.disruption.core.budgets import Allowance, allowances, broken
from tests.support.builders import NOW
from tests.unit.services.disruption.clusters import READY, a_cluster, a_machine, a_pool, asking

EMPTY, DRIFTED = DisruptionReason.EMPTY, DisruptionReason.DRIFTED


def allowance(machines: Any, **override: Any) -> Allowance:
    in_flight = override.pop("in_flight", {})
    snapshot = a_cluster(*machines, pools=[a_pool(**override)])
    return allowances(asking(snapshot, in_flight=in_flight))["default", EMPTY]


@pytest.mark.parametrize(
    ("override", "disrupting"),
    [
        pytest.param({}, 0, id="quiet"),
        pytest.param({"ready": False}, 1, id="not ready"),
        pytest.param({"leaving": True}, 1, id="leaving"),
        pytest.param({"claim": {"deleting_at": NOW}}, 1, id="claim deleting"),
        pytest.param({"claim": {"command": ClaimCommand(id="c")}}, 1, id="under a command"),
    ],
)
def test_a_node_that_is_going_or_not_ready_consumes_budget(
    override: dict[str, Any], disrupting: int
) -> None:
    found = allowance([a_machine("a", **override), a_machine("b")], budgets=(Budget(nodes=1),))

    assert (found.allowed, found.disrupting, found.left) == (1, disrupting, 1 - disrupting)


def test_a_command_that_no_snapshot_shows_yet_consumes_budget() -> None:
    found = allowance([a_machine()], budgets=(Budget(nodes=1),), in_flight={"uid-claim-a": "c"})

    assert found.left == 0


@pytest.mark.parametrize(
    ("true", "counted"),
    [
        pytest.param(READY, 2, id="initialized"),
        pytest.param((), 1, id="not initialized"),
        pytest.param((*READY, ConditionType.INSTANCE_TERMINATING), 1, id="instance terminating"),
    ],
)
def test_percentages_are_of_initialized_nodes_rounded_up(
    true: tuple[ConditionType, ...], counted: int
) -> None:
    machines = [a_machine("a", true=true), a_machine("b", leaving=True)]

    found = allowance(machines, budgets=(Budget(percent=51),))

    assert found.allowed == {2: 2, 1: 1}[counted]


def test_reasons_and_pools_are_counted_apart() -> None:
    pools = [
        a_pool("a", budgets=(Budget(nodes=3, reasons=frozenset({EMPTY})), Budget(nodes=5))),
        a_pool("b", budgets=()),
    ]

    found = allowances(asking(a_cluster(a_machine(claim={"nodepool": "a"}), pools=pools)))

    assert {key: one.allowed for key, one in found.items() if key[1] is not _OTHER} == {
        ("a", EMPTY): 3,
        ("a", DRIFTED): 5,
        ("b", EMPTY): UNLIMITED,
        ("b", DRIFTED): UNLIMITED,
    }


_OTHER = DisruptionReason.UNDERUTILIZED


def test_a_budget_that_cannot_be_evaluated_allows_nothing_and_is_named() -> None:
    question = asking(a_cluster(pools=[a_pool(budgets=(Budget(nodes=1, schedule="x"),))]))

    assert allowances(question)["default", EMPTY].left == 0
    assert [one.nodepool for one in broken(question)] == ["default"]
