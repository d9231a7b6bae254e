"""Limits of pools: what counts towards them, and what a plan may still buy."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.reason import Rule
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.packing import settling
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_shape,
    a_spread,
    a_taint,
    a_term,
    a_type,
    amounts,
    pods,
)
from tests.unit.services.solver.core.asking import left_over, on_new, plan_of, the_rejection, zones

ODD = a_type("odd", capacity=amounts(cpu=5, memory="16Gi", pods=3))


@pytest.mark.parametrize(
    ("limits", "placed"),
    [
        pytest.param(amounts(), 6, id="none"),
        pytest.param(amounts(cpu=8), 3, id="the second node would exceed it"),
        pytest.param(amounts(cpu=9), 3, id="what is left is too small for the type"),
        pytest.param(amounts(memory="31Gi"), 3, id="any resource counts"),
        pytest.param(amounts(nodes=1), 3, id="number of nodes"),
        pytest.param(amounts(cpu=3), 0, id="not even one"),
    ],
)
def test_limits_hold_for_what_the_plan_buys(limits: Any, placed: int) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="1")],
        pods=pods(6),
        nodepools=[a_pool(limits=limits)],
        catalogues=[a_catalogue(ODD)],
    )

    assert sum(on_new(plan)) == placed
    assert all(one.reason.rejections[0].rule is Rule.POOL_LIMITS for one in plan.unplaced)


def test_nodes_and_claims_of_the_pool_use_up_its_limits() -> None:
    plan = plan_of(
        pods=pods(1),
        nodepools=[a_pool(limits=amounts(cpu=8))],
        nodes=[a_node(nodeclaim="claim-1", taints=(a_taint(),))],
        nodeclaims=[
            a_nodeclaim("claim-1"),
            a_nodeclaim("claim-2", capacity=amounts(cpu=4), taints=(a_taint(),)),
        ],
    )

    assert the_rejection(plan).rule is Rule.POOL_LIMITS
    assert the_rejection(plan).offered == amounts(cpu=0)


@pytest.mark.parametrize(
    ("limits", "many", "words", "change"),
    [
        pytest.param(
            amounts(cpu=1),
            1,
            "limits leave 1 cpu, and a node takes 2 cpu at least",
            "1 cpu",
            id="cpu",
        ),
        pytest.param(amounts(nodes=0), 1, "limits leave 0 nodes", "1 node", id="nodes"),
        pytest.param(
            amounts(nodes=9, cpu=5),
            6,
            "limits leave 1 cpu, and a node takes 2 cpu at least; nodes of this plan count as the "
            "largest type that they may become",
            "1 cpu",
            id="one of two, after what the plan buys",
        ),
    ],
)
def test_the_limit_that_is_reached_is_told_with_what_a_node_takes(
    limits: Any, many: int, words: str, change: str
) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="2")],
        pods=pods(many),
        nodepools=[a_pool(limits=limits)],
        catalogues=[a_catalogue(a_type("two", capacity=amounts(cpu=2, memory="8Gi", pods=9)))],
    )

    found = the_rejection(plan)
    assert found.message == words
    assert found.suggestion == f"raise the limits of nodepool default by {change}"


def test_a_node_without_a_claim_counts_for_the_pool_that_its_label_names() -> None:
    plan = plan_of(
        pods=pods(1),
        nodepools=[a_pool(limits=amounts(nodes=1))],
        nodes=[a_node(labels={label_keys.NODEPOOL: "default"}, taints=(a_taint(),))],
    )

    assert the_rejection(plan).rule is Rule.POOL_LIMITS


def test_leaving_nodes_free_the_limits_of_their_pool() -> None:
    plan = plan_of(
        pods=pods(1),
        nodepools=[a_pool(limits=amounts(cpu=16))],
        nodes=[a_node(nodeclaim="claim-1", leaving=True)],
        nodeclaims=[a_nodeclaim("claim-1")],
    )

    assert on_new(plan) == [1]


def test_the_largest_type_that_a_claim_may_become_is_charged() -> None:
    plan = plan_of(
        shapes=[a_shape(anti_affinity=(a_term(),))],
        pods=pods(2),
        nodepools=[a_pool(limits=amounts(cpu=24))],
    )

    # 16 are charged for the first, so that 8 are left for the second.
    assert [claim.instance_types[-1] for claim in plan.nodeclaims] == ["m-16", "m-8"]


def test_claims_are_tied_to_small_types_before_a_limit_leaves_pods_out() -> None:
    plan = plan_of(
        shapes=[a_shape(anti_affinity=(a_term(),))],
        pods=pods(4),
        nodepools=[a_pool(limits=amounts(cpu=24))],
    )

    assert [claim.instance_types for claim in plan.nodeclaims] == [
        ("m-2",),
        ("m-2",),
        ("m-2", "m-4", "m-8", "m-16"),
        ("m-2", "m-4"),
    ]


def test_a_limit_that_lets_no_node_of_a_zone_be_bought_does_not_hold_back_the_others() -> None:
    plan = plan_of(
        shapes=[a_shape(topology_spread=(a_spread(),))],
        pods=pods(3),
        nodepools=[a_pool(limits=amounts(nodes=2))],
    )

    # No node will ever be in the third zone, so that kube-scheduler takes no notice of it.
    assert on_new(plan) == [2, 1]


def test_limits_that_the_plan_used_up_do_not_loosen_a_spread() -> None:
    plan = plan_of(
        shapes=[a_shape(labels=(("app", "web"),), topology_spread=(a_spread(),))],
        pods=pods(3),
        nodepools=[a_pool(limits=amounts(cpu=16))],
    )

    assert zones(plan) == ["zone-a", "zone-b", "zone-c"]


def test_claims_are_tied_once_as_long_as_nothing_joins_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tied, looked_at = settling._tied, []

    def counted(problem: Any, known: Any, used: Any) -> Any:
        looked_at.append(known)
        return tied(problem, known, used)

    monkeypatch.setattr(settling, "_tied", counted)
    plan = plan_of(
        shapes=[a_shape(topology_spread=(a_spread(label_keys.HOSTNAME),))],
        pods=pods(12),
        nodepools=[a_pool(limits=amounts(cpu=24))],
    )

    # Each new claim needs the limits that the one before it leaves once it is tied.
    assert on_new(plan) == [1] * 12
    assert len(looked_at) <= 12


def test_pods_that_are_too_large_for_any_pool_are_not_looked_at_by_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    known = PoolLimits.used_up

    def counting(limits: PoolLimits, fits: Any) -> bool:
        asked.append(limits.template.index)
        return known(limits, fits)

    monkeypatch.setattr(PoolLimits, "used_up", counting)
    count = 12
    plan = plan_of(
        shapes=[
            a_shape(1, cpu="4"),
            *(a_shape(number, cpu=str(number)) for number in range(10, 10 + count)),
        ],
        pods=[*pods(count), *(a_pod(f"large-{one}", one) for one in range(10, 10 + count))],
        nodepools=[a_pool(f"p{number}", limits=amounts(cpu=6)) for number in range(count)],
        catalogues=[a_catalogue(ODD)],
    )

    assert (on_new(plan), left_over(plan)) == ([1] * count, count)
    assert asked == []
