"""What is said of nodes, of claims in flight and of pools."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.explanation import Explanation
from libs.domain.nodeclaim import ClaimCommand
from libs.domain.question import SubjectKind
from libs.domain.reason import Rule
from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.solution import SolveOptions
from libs.domain.workload import PodDisruptionBudget
from services.solver.core.explaining.explain import explain
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_daemonset,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    a_spread,
    a_type,
    amounts,
    an_offering,
    an_owner,
    pods,
    require,
    selecting,
    some_types,
)

ZONE = label_keys.ZONE


def _of(kind: SubjectKind, subject: str, **snapshot: Any) -> Explanation:
    return explain(a_snapshot(**snapshot), SolveOptions(), kind, subject)


# Nodes.


def test_what_a_node_is_and_holds() -> None:
    claim = a_nodeclaim(node_name="node-1")
    shapes = [a_shape(), a_shape(100, cpu="250m", memory="1Gi")]

    found = _of(
        SubjectKind.NODE,
        "node-1",
        shapes=shapes,
        pods=[a_pod("runs", node="node-1"), *pods(1)],
        nodes=[a_node(nodeclaim="claim-1", labels={label_keys.NODEPOOL: "default"})],
        nodeclaims=[claim],
        daemonsets=[a_daemonset()],
    )

    node = found.node
    assert node is not None
    assert (node.nodeclaim, node.nodepool, node.instance_type) == ("claim-1", "default", "m-4")
    assert node.price_nanos_per_hour == 200_000_000
    assert node.used == amounts(cpu=1, memory="1Gi", pods=1)
    assert node.daemons == amounts(cpu="250m", memory="1Gi", pods=1)
    assert node.free == amounts(cpu="2750m", memory="14Gi", pods=108)
    assert [pod.name for pod in node.pods] == ["runs"]
    assert node.could_take == ("uid-s1-00001",)
    assert found.decision is not None
    assert found.decision.candidate


def test_a_cheaper_offering_that_holds_the_pods_of_a_node_is_named() -> None:
    found = _of(
        SubjectKind.NODE,
        "node-1",
        pods=[a_pod("runs", node="node-1", owner=an_owner())],
        nodes=[a_node(nodeclaim="claim-1")],
        nodeclaims=[a_nodeclaim()],
        catalogues=[a_catalogue(*some_types(2, 4))],
    )

    assert found.node is not None
    assert found.node.options_known
    assert found.options_by_price[0].instance_type == "m-2"
    assert max(one.price_nanos_per_hour for one in found.options_by_price) < 200_000_000


def test_a_node_whose_pods_need_it_all_has_nothing_cheaper() -> None:
    found = _of(
        SubjectKind.NODE,
        "node-1",
        shapes=[a_shape(cpu="4")],
        pods=[a_pod("runs", node="node-1", owner=an_owner())],
        nodes=[a_node(nodeclaim="claim-1", labels={label_keys.CAPACITY_TYPE: "spot"})],
        nodeclaims=[a_nodeclaim()],
    )

    assert found.node is not None
    assert found.node.options_known
    assert found.options_by_price == ()


@pytest.mark.parametrize(
    ("node", "claim", "pod", "kinds"),
    [
        pytest.param({"initialized": False}, {}, {}, ["NotInitialized"], id="not initialized"),
        pytest.param({"leaving": True}, {}, {}, ["Leaving"], id="leaving"),
        pytest.param({"do_not_disrupt": True}, {}, {}, ["DoNotDisrupt"], id="node says so"),
        pytest.param({}, {}, {"do_not_disrupt_ms": -1}, ["DoNotDisrupt"], id="pod says so"),
        pytest.param({}, {"command": ClaimCommand(id="x")}, {}, ["UnderCommand"], id="command"),
        pytest.param({}, {"nodepool": ""}, {}, ["Standalone"], id="no pool"),
        pytest.param({}, {"nodepool": "gone"}, {}, ["NodePoolNotFound"], id="pool is gone"),
        pytest.param(
            {"nominated_until": NOW + timedelta(minutes=1)}, {}, {}, ["Nominated"], id="nominated"
        ),
        pytest.param({"nodeclaim": ""}, {}, {}, ["Unmanaged"], id="not ours"),
    ],
)
def test_what_keeps_a_node(
    node: dict[str, Any], claim: dict[str, Any], pod: dict[str, Any], kinds: list[str]
) -> None:
    found = _of(
        SubjectKind.NODE,
        "node-1",
        pods=[a_pod("runs", node="node-1", **pod)],
        nodes=[replace(a_node(nodeclaim="claim-1"), **node)],
        nodeclaims=[a_nodeclaim(**claim)],
    )

    assert found.decision is not None
    assert [one.kind for one in found.decision.blockers] == kinds


def test_a_pod_disruption_budget_keeps_a_node() -> None:
    budgets = [
        PodDisruptionBudget(namespace="default", name=name, uid=name, selector=selecting(app="web"))
        for name in ("one", "two")
    ]
    common: dict[str, Any] = {
        "pods": [a_pod("runs", node="node-1")],
        "nodes": [a_node(nodeclaim="claim-1")],
        "nodeclaims": [a_nodeclaim()],
    }

    single = _of(SubjectKind.NODE, "node-1", pod_disruption_budgets=budgets[:1], **common)
    several = _of(SubjectKind.NODE, "node-1", pod_disruption_budgets=budgets, **common)

    kinds = [
        [one.kind for one in found.decision.blockers]
        for found in (single, several)
        if found.decision is not None
    ]
    assert kinds == [["PodDisruptionBudget"], ["SeveralPodDisruptionBudgets"]]


def test_a_claim_in_flight_is_explained_like_a_node() -> None:
    claim = a_nodeclaim(allocatable=amounts(cpu=4, memory="16Gi", pods=9))

    found = _of(SubjectKind.NODE, "claim-1", pods=pods(1), nodeclaims=[claim])

    assert found.node is not None
    assert (found.node.name, found.node.nodeclaim) == ("", "claim-1")
    assert found.node.states == ("not launched yet",)
    assert found.node.could_take == ("uid-s1-00001",)
    assert found.decision is None


# Pools.


def test_what_each_requirement_of_a_pool_takes_away() -> None:
    pool = a_pool(
        requirements=require(
            (label_keys.CAPACITY_TYPE, "In", ["on-demand"]),
            (label_keys.INSTANCE_TYPE, "In", ["m-2", "m-4"]),
            (ZONE, "NotIn", ["zone-c"]),
        )
    )

    found = _of(SubjectKind.NODEPOOL, "default", nodepools=[pool])

    assert found.nodepool is not None
    assert [(one.instance_types, one.offerings) for one in found.nodepool.funnel] == [
        (4, 24),
        (4, 24),
        (4, 12),
        (2, 6),
        (2, 4),
    ]
    assert [one.capacity_type for one in found.options_by_price] == ["on-demand"]


def test_limits_of_a_pool_and_what_is_left_of_them() -> None:
    labels = {label_keys.NODEPOOL: "default"}

    found = _of(
        SubjectKind.NODEPOOL,
        "default",
        nodepools=[a_pool(limits=amounts(cpu=10, nodes=3))],
        nodes=[a_node(labels=labels)],
    )

    assert found.nodepool is not None
    assert found.nodepool.used == amounts(cpu=4, nodes=1)
    assert found.nodepool.left == amounts(cpu=6, nodes=2)


def test_daemons_of_a_pool_take_more_on_some_types() -> None:
    arm = a_shape(101, cpu="500m", selector={label_keys.ARCH: "arm64"})

    found = _of(
        SubjectKind.NODEPOOL,
        "default",
        shapes=[a_shape(100, cpu="100m"), arm],
        daemonsets=[a_daemonset(), a_daemonset("arm", 101)],
        catalogues=[a_catalogue(a_type("m"), a_type("a", arch="arm64"))],
    )

    assert found.nodepool is not None
    assert found.nodepool.least_overhead == amounts(cpu="100m", memory="1Gi", pods=1)
    assert found.nodepool.most_overhead == amounts(cpu="600m", memory="2Gi", pods=2)


@pytest.mark.parametrize(
    ("pool", "catalogue", "rule"),
    [
        pytest.param(a_pool(ready=False), [], Rule.POOL_NOT_READY, id="not ready"),
        pytest.param(a_pool(replicas=2), [a_catalogue()], Rule.POOL_STATIC, id="static"),
        pytest.param(a_pool(), [], Rule.CATALOGUE, id="nothing is known of what is sold"),
        pytest.param(
            a_pool(requirements=require((ZONE, "In", ["zone-q"]))),
            [a_catalogue()],
            Rule.POOL_REQUIREMENTS,
            id="requirements that leave nothing",
        ),
    ],
)
def test_a_pool_that_nothing_is_bought_from_says_why(
    pool: Any, catalogue: list[Any], rule: Rule
) -> None:
    found = _of(
        SubjectKind.NODEPOOL, "default", nodepools=[pool], catalogues=catalogue, pods=pods(2)
    )

    assert found.nodepool is not None
    assert not found.nodepool.usable
    assert rule in [one.rule for one in found.pool_messages]
    assert [(one.rule, len(one.pod_uids)) for one in found.nodepool.refusals] == [(rule, 2)]


def test_a_value_that_nobody_sells_is_told_with_the_one_that_was_perhaps_meant() -> None:
    pool = a_pool(requirements=require((ZONE, "In", ["zone-b", "zonea", "mars"])))

    found = _of(SubjectKind.NODEPOOL, "default", nodepools=[pool])

    assert [one.message for one in found.pool_messages] == [
        f'nothing that is sold has "mars" as {ZONE}',
        f'nothing that is sold has "zonea" as {ZONE}; "zone-a" is sold',
    ]


def test_offerings_that_are_sold_out_are_a_step_of_the_funnel() -> None:
    kind = a_type(offerings=(an_offering(), an_offering("zone-b", available=False)))

    found = _of(SubjectKind.NODEPOOL, "default", catalogues=[a_catalogue(kind)])

    assert found.nodepool is not None
    assert [one.offerings for one in found.nodepool.funnel] == [2, 1]


@pytest.mark.parametrize(
    ("key", "told"),
    [
        pytest.param(
            ZONE,
            "; pods per domain: zone-a 1, zone-b 1, zone-c 0; "
            "no node yet, but one can be bought: zone-c; maxSkew 1",
            id="zones",
        ),
        pytest.param(label_keys.HOSTNAME, "; a new node counts, too; maxSkew 1", id="hosts"),
    ],
)
def test_a_node_that_a_spread_refuses_says_which_domains_have_no_node_yet(
    key: str, told: str
) -> None:
    node = _of(
        SubjectKind.NODE,
        "n-a",
        shapes=[a_shape(topology_spread=(a_spread(key=key),)), a_shape(2)],
        nodes=[a_node(f"n-{one}", labels={ZONE: f"zone-{one}"}) for one in "ab"],
        pods=[a_pod("it"), a_pod("in-a", 2, node="n-a"), a_pod("in-b", 2, node="n-b")],
        catalogues=[a_catalogue(a_type(offerings=(an_offering(zone="zone-c"),)))],
    ).node

    assert node is not None
    (refusal,) = node.refusals
    assert refusal.message == f"topology spread over {key} does not allow it{told}"


@pytest.mark.parametrize(
    ("pool", "usable"),
    [
        pytest.param({}, True, id="open"),
        pytest.param({"limits": amounts(cpu=0)}, False, id="no room in its limit"),
        pytest.param({"limits": amounts(nodes=0)}, False, id="no node more is allowed"),
        pytest.param({"limits": amounts(cpu=1)}, True, id="room for its smallest type"),
        pytest.param(
            {"requirements": Requirements([Requirement.of(ZONE, "In", ("zone-a",), 1)])},
            True,
            id="minValues that is met",
        ),
        pytest.param(
            {
                "requirements": Requirements(
                    [Requirement.of(ZONE, "In", ("zone-a", "zone-x", "zone-y"), 3)]
                )
            },
            False,
            id="minValues out of reach",
        ),
    ],
)
def test_a_pool_is_usable_if_some_node_could_be_bought_from_it(
    pool: dict[str, Any], usable: bool
) -> None:
    found = _of(
        SubjectKind.NODEPOOL,
        "default",
        nodepools=[a_pool(**pool)],
        catalogues=[a_catalogue(*some_types(1))],
    ).nodepool

    assert found is not None
    assert found.usable is usable
