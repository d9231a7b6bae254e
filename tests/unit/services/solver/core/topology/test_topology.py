"""Topology spread, against pods that run and pods of the same plan; and constraints together."""

from collections import Counter
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.plan import Plan
from libs.domain.pod import PodPhase
from libs.domain.reason import Rule
from libs.domain.selector import LabelSelector
from libs.domain.topology import NodeInclusionPolicy, WeightedPodAffinityTerm
from tests.support.builders import (
    ZONES,
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_shape,
    a_spread,
    a_taint,
    a_term,
    a_toleration,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
    selecting,
)
from tests.unit.services.solver.core.asking import left_over, on_new, on_nodes, plan_of

ZONE = label_keys.ZONE

HOST = label_keys.HOSTNAME


def _by_zone(plan: Plan) -> Counter[str]:
    """Return how many pods the new claims have in each zone."""
    found: Counter[str] = Counter()
    for claim in plan.nodeclaims:
        found[claim.cheapest.zone] += len(claim.pod_uids)
    return found


def _zoned_node(zone: str, **override: Any) -> Any:
    return a_node(f"node-{zone}", labels={ZONE: zone}, **override)


@pytest.mark.parametrize(
    ("count", "skew", "expected"),
    [
        pytest.param(6, 1, [2, 2, 2], id="even"),
        pytest.param(7, 1, [2, 2, 3], id="one more"),
        pytest.param(2, 1, [1, 1], id="fewer than zones"),
    ],
)
def test_pods_are_spread_over_all_zones_that_can_be_bought(
    count: int, skew: int, expected: list[int]
) -> None:
    plan = plan_of(shapes=[a_shape(topology_spread=(a_spread(max_skew=skew),))], pods=pods(count))

    assert sorted(_by_zone(plan).values()) == expected


def test_running_pods_count_and_new_ones_fill_the_gaps() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="100m", topology_spread=(a_spread(),)), a_shape(2, cpu="100m")],
        pods=[*pods(3), a_pod("a", 2, node="node-zone-a"), a_pod("b", 2, node="node-zone-a")],
        nodes=[_zoned_node(zone) for zone in ZONES],
    )

    assert on_nodes(plan) == {"node-zone-b": 2, "node-zone-c": 1} or on_nodes(plan) == {
        "node-zone-b": 1,
        "node-zone-c": 2,
    }


@pytest.mark.parametrize(
    ("running", "spread", "counts"),
    [
        pytest.param({}, {}, True, id="runs"),
        pytest.param({"deleting_ms": 1}, {}, False, id="terminating"),
        pytest.param({"phase": PodPhase.FAILED}, {}, False, id="finished"),
        pytest.param({}, {"selector": LabelSelector()}, False, id="empty selector"),
        pytest.param({}, {"selector": None}, False, id="no selector"),
        pytest.param({}, {"selector": selecting(app="api")}, False, id="others"),
    ],
)
def test_which_running_pods_count(
    running: dict[str, Any], spread: dict[str, Any], counts: bool
) -> None:
    shape = a_shape(cpu="100m", labels={"app": "web"}, topology_spread=(a_spread(**spread),))
    plan = plan_of(
        shapes=[shape, a_shape(2, cpu="100m")],
        pods=[*pods(1), a_pod("old", 2, node="node-zone-a", **running)],
        nodes=[_zoned_node("zone-a"), _zoned_node("zone-b")],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-zone-b" if counts else "node-zone-a": 1}


def test_pods_of_another_namespace_do_not_count() -> None:
    elsewhere = a_shape(2, cpu="100m", namespace="other")
    plan = plan_of(
        shapes=[a_shape(cpu="100m", topology_spread=(a_spread(),)), elsewhere],
        pods=[*pods(1), a_pod("old", 2, node="node-zone-a")],
        nodes=[_zoned_node("zone-a"), _zoned_node("zone-b")],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-zone-a": 1}


@pytest.mark.parametrize(
    ("node", "shape", "spread", "stuck"),
    [
        pytest.param({}, {}, {}, True, id="every node counts"),
        pytest.param(
            {}, {"selector": {ZONE: "zone-a"}}, {}, False, id="nodes that the pod does not select"
        ),
        pytest.param(
            {},
            {"selector": {ZONE: "zone-a"}},
            {"node_affinity_policy": NodeInclusionPolicy.IGNORE},
            True,
            id="node affinity is ignored",
        ),
        pytest.param({"taints": (a_taint(),)}, {}, {}, True, id="taints do not matter"),
        pytest.param(
            {"taints": (a_taint(),)},
            {},
            {"node_taints_policy": NodeInclusionPolicy.HONOR},
            False,
            id="taints are honoured",
        ),
    ],
)
def test_empty_domains_hold_others_back_only_if_the_policies_count_them(
    node: dict[str, Any], shape: dict[str, Any], spread: dict[str, Any], stuck: bool
) -> None:
    full = amounts(cpu="50m", memory="1Gi", pods=1)
    plan = plan_of(
        shapes=[a_shape(cpu="100m", topology_spread=(a_spread(**spread),), **shape)],
        pods=pods(2),
        nodes=[_zoned_node("zone-a"), _zoned_node("zone-b", allocatable=full, **node)],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-zone-a": 1 if stuck else 2}


@pytest.mark.parametrize(
    ("least", "placed"),
    [pytest.param(2, 3, id="enough domains"), pytest.param(3, 2, id="too few domains")],
)
def test_min_domains_keep_the_minimum_at_zero(least: int, placed: int) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="100m", topology_spread=(a_spread(min_domains=least),))],
        pods=pods(3),
        nodes=[_zoned_node("zone-a"), _zoned_node("zone-b")],
        nodepools=[],
    )

    assert sum(on_nodes(plan).values()) == placed


def test_nodes_without_the_key_take_no_pod_that_is_spread_by_it() -> None:
    plan = plan_of(
        shapes=[a_shape(topology_spread=(a_spread("example.com/rack"),))],
        pods=pods(1),
        nodes=[a_node()],
        nodepools=[],
    )

    assert plan.unplaced[0].reason.existing == ((Rule.TOPOLOGY_SPREAD, 1),)


def test_each_new_node_takes_as_many_as_the_skew_over_hosts_allows() -> None:
    spread = a_spread(HOST, max_skew=2)
    plan = plan_of(shapes=[a_shape(topology_spread=(spread,))], pods=pods(5))

    assert on_new(plan) == [2, 2, 1]


def test_where_nothing_can_be_bought_hosts_are_filled_evenly() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="100m", topology_spread=(a_spread(HOST),))],
        pods=pods(5),
        nodes=[a_node("a"), a_node("b")],
        nodepools=[],
    )

    assert sorted(on_nodes(plan).values()) == [2, 3]


def test_zones_and_hosts_at_once() -> None:
    both = (a_spread(), a_spread(HOST))
    plan = plan_of(shapes=[a_shape(topology_spread=both)], pods=pods(6))

    assert on_new(plan) == [1] * 6
    assert sorted(_by_zone(plan).values()) == [2, 2, 2]


def test_capacity_types_are_domains_too() -> None:
    spread = a_spread(label_keys.CAPACITY_TYPE)
    plan = plan_of(shapes=[a_shape(topology_spread=(spread,))], pods=pods(4))

    kinds = Counter(claim.cheapest.capacity_type for claim in plan.nodeclaims)
    assert sorted(kinds) == ["on-demand", "spot"]


def test_a_key_of_two_pools_splits_pods_over_both() -> None:
    pools = [
        a_pool(name, requirements=require(("example.com/rack", "In", [name]))) for name in "ab"
    ]
    plan = plan_of(
        shapes=[a_shape(topology_spread=(a_spread("example.com/rack"),))],
        pods=pods(4),
        nodepools=pools,
    )

    assert sorted((claim.nodepool, len(claim.pod_uids)) for claim in plan.nodeclaims) == [
        ("a", 2),
        ("b", 2),
    ]


def test_a_zone_in_which_nothing_can_be_had_does_not_hold_back_the_others() -> None:
    small = a_type("small", capacity=amounts(cpu=1, memory="1Gi", pods=9))
    big = a_type("big", offerings=(an_offering("zone-a"), an_offering("zone-b")))
    plan = plan_of(
        shapes=[a_shape(cpu="2", topology_spread=(a_spread(),))],
        pods=pods(6),
        catalogues=[a_catalogue(small, big)],
    )

    assert _by_zone(plan) == {"zone-a": 3, "zone-b": 3}


def test_a_pod_pinned_to_a_zone_is_not_held_back_by_others() -> None:
    shape = a_shape(selector={ZONE: "zone-b"}, topology_spread=(a_spread(),))
    plan = plan_of(shapes=[shape], pods=pods(3))

    assert _by_zone(plan) == {"zone-b": 3}


def test_many_constraints_at_once() -> None:
    """Spread over zones, apart by host, near the database, on arm64."""
    shape = a_shape(
        1,
        cpu="1",
        selector={label_keys.ARCH: "arm64"},
        topology_spread=(a_spread(),),
        anti_affinity=(a_term(HOST),),
        affinity=(a_term(label_keys.CAPACITY_TYPE, selector=selecting(app="db")),),
    )
    on_demand = {label_keys.CAPACITY_TYPE: "on-demand", label_keys.ARCH: "amd64"}
    db = a_shape(2, cpu="2", labels={"app": "db"}, selector=on_demand)
    plan = plan_of(
        shapes=[shape, db],
        pods=[*pods(6, 1), *pods(1, 2)],
        catalogues=[a_catalogue(a_type("m-4"), a_type("a-4", arch="arm64"))],
    )

    arm = [claim for claim in plan.nodeclaims if claim.instance_types == ("a-4",)]
    assert [len(claim.pod_uids) for claim in arm] == [1] * 6
    assert sorted(Counter(claim.cheapest.zone for claim in arm).values()) == [2, 2, 2]
    assert {claim.cheapest.capacity_type for claim in arm} == {"on-demand"}


def test_a_least_number_of_hosts_is_not_exceeded_while_they_have_room() -> None:
    spread = a_spread(label_keys.HOSTNAME, min_domains=3)

    plan = plan_of(shapes=[a_shape(cpu="20m", topology_spread=(spread,))], pods=pods(12))

    assert on_new(plan) == [4, 4, 4]


def test_hosts_of_other_pods_count_towards_the_least_number() -> None:
    spread = a_spread(label_keys.HOSTNAME, min_domains=2)
    shapes = [a_shape(cpu="20m", topology_spread=(spread,))]

    plan = plan_of(shapes=shapes, pods=pods(4), nodes=[a_node("n1"), a_node("n2")])

    assert on_nodes(plan) == {"n1": 2, "n2": 2}


def test_a_preference_of_others_ties_nobody_to_a_zone() -> None:
    wish = WeightedPodAffinityTerm(weight=1, term=a_term(label_keys.ZONE))
    plan = plan_of(
        shapes=[a_shape(1, cpu="2"), a_shape(2, cpu="8", labels={}, preferred_affinity=(wish,))],
        pods=[*pods(1, 1), *pods(1, 2)],
        nodeclaims=[a_nodeclaim()],
        nodepools=[],
    )

    # The claim may still come up in any zone.
    assert on_nodes(plan) == {"claim-1": 1}


def test_a_claim_that_may_come_up_in_an_empty_domain_is_counted_there() -> None:
    spread = a_spread(label_keys.CAPACITY_TYPE, max_skew=2)
    on_demand = require((label_keys.CAPACITY_TYPE, "In", ["on-demand"]))
    near = a_term(label_keys.ZONE, selector=selecting(app="large"))
    plan = plan_of(
        shapes=[
            a_shape(1, topology_spread=(spread,), affinity=(near,)),
            a_shape(2, cpu="3", labels={"app": "large"}, tolerations=(a_toleration(),)),
        ],
        pods=[*pods(3, 1), *pods(1, 2)],
        nodepools=[
            a_pool("plain", requirements=on_demand),
            a_pool("special", taints=(a_taint(),)),
        ],
    )

    # The large pod, which comes first, gets a spot node, where no pod of the spread may go.
    assert left_over(plan) == 1
