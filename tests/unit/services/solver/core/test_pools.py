"""What is bought: pools in order, offerings, launch lists."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import ObservedAllocatable
from libs.domain.nodepool import NodePool
from libs.domain.reason import Rule
from libs.domain.solution import SolveOptions
from tests.support.builders import (
    NODE_CLASS,
    NOW,
    a_catalogue,
    a_daemonset,
    a_node_term,
    a_pool,
    a_port,
    a_shape,
    a_taint,
    a_toleration,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import (
    left_over,
    on_new,
    plan_of,
    the_claim,
    the_rejection,
    zones,
)

TEAM = "example.com/team"


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        pytest.param([a_pool("a"), a_pool("b", weight=1)], "b", id="heavier pool first"),
        pytest.param([a_pool("a"), a_pool("b")], "b", id="of equal weight the later name"),
        pytest.param([a_pool("a"), a_pool("b", replicas=3)], "a", id="static pools are not used"),
        pytest.param(
            [a_pool("a"), a_pool("b", ready=False, problems=("no class",))],
            "a",
            id="pools that are not ready are not used",
        ),
        pytest.param(
            [a_pool("a"), a_pool("b", taints=(a_taint(),))], "a", id="taint not tolerated"
        ),
        pytest.param(
            [a_pool("a"), a_pool("b", startup_taints=(a_taint(),))],
            "b",
            id="start-up taints do not matter",
        ),
        pytest.param(
            [a_pool("a"), a_pool("b", requirements=require((label_keys.ARCH, "In", ["arm64"])))],
            "a",
            id="requirements that leave no type",
        ),
        pytest.param(
            [a_pool("a"), a_pool("b", limits=amounts(cpu=1))], "a", id="limits leave no type"
        ),
        pytest.param(
            [a_pool("a"), a_pool("b", limits=amounts(nodes=0))], "a", id="no node is allowed"
        ),
    ],
)
def test_the_first_pool_that_can_is_bought_from(pools: list[NodePool], expected: str) -> None:
    plan = plan_of(pods=pods(1), nodepools=pools)

    assert the_claim(plan).nodepool == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param({"selector": {TEAM: "red"}}, 1, id="label of the template"),
        pytest.param({"selector": {TEAM: "blue"}}, 0, id="another value"),
        pytest.param({"selector": {"example.com/none": "x"}}, 0, id="label that nobody defines"),
        pytest.param({"selector": {label_keys.ARCH: "amd64"}}, 1, id="label of the type"),
        pytest.param({"selector": {label_keys.ZONE: "zone-z"}}, 0, id="zone that is not offered"),
        pytest.param({"selector": {label_keys.HOSTNAME: "x"}}, 0, id="hostname"),
        pytest.param({"selector": {"beta.kubernetes.io/arch": "amd64"}}, 1, id="alias"),
        pytest.param({"selector": {label_keys.REGION: "r"}}, 0, id="known key, no type has it"),
        pytest.param({"selector": {label_keys.NODEPOOL: "default"}}, 1, id="pool by name"),
        pytest.param({"selector": {label_keys.INITIALIZED: "true"}}, 1, id="what all nodes have"),
        pytest.param(
            {"required_node_terms": (a_node_term(("example.com/none", "NotIn", ["x"])),)},
            1,
            id="NotIn on an undefined key",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(("example.com/none", "DoesNotExist")),)},
            1,
            id="DoesNotExist on an undefined key",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term((TEAM, "Exists")),)}, 1, id="Exists on a label"
        ),
        pytest.param(
            {
                "required_node_terms": (
                    a_node_term((TEAM, "In", ["blue"])),
                    a_node_term((TEAM, "In", ["red"])),
                )
            },
            1,
            id="any term suffices",
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(node_names=("n",)),)}, 0, id="a node by name"
        ),
        pytest.param(
            {"required_node_terms": (a_node_term(excluded_node_names=("n",)),)},
            1,
            id="not a node by name",
        ),
        pytest.param(
            {"selector": {"example.com/size": "4"}}, 0, id="key that only the catalogue knows"
        ),
    ],
)
def test_labels_decide_whether_a_pool_suits(shape: dict[str, Any], expected: int) -> None:
    plan = plan_of(
        shapes=[a_shape(**shape)], pods=pods(1), nodepools=[a_pool(labels={TEAM: "red"})]
    )

    assert len(plan.nodeclaims) == expected
    assert left_over(plan) == 1 - expected


def test_the_cheapest_offering_that_fits_is_named_and_the_list_is_in_order_of_price() -> None:
    plan = plan_of(shapes=[a_shape(cpu="3")], pods=pods(1))

    claim = the_claim(plan)
    assert claim.instance_types == ("m-4", "m-8", "m-16")
    assert (claim.cheapest.capacity_type, claim.cheapest.zone) == ("spot", "zone-a")
    assert claim.cheapest.price_nanos_per_hour == 180_000_000


def test_at_equal_price_spot_goes_before_on_demand() -> None:
    offerings = (an_offering(capacity_type="on-demand"), an_offering(capacity_type="spot"))
    plan = plan_of(pods=pods(1), catalogues=[a_catalogue(a_type(offerings=offerings))])

    assert the_claim(plan).cheapest.capacity_type == "spot"


def test_offerings_that_cannot_be_had_are_left_out() -> None:
    offerings = (
        an_offering("zone-a", available=False, price_nanos_per_hour=1),
        an_offering("zone-b"),
    )
    plan = plan_of(pods=pods(1), catalogues=[a_catalogue(a_type(offerings=offerings))])

    assert the_claim(plan).cheapest.zone == "zone-b"


def test_a_claim_states_types_capacity_types_and_labels() -> None:
    pool = a_pool(requirements=require((TEAM, "In", ["red"]), (label_keys.ZONE, "Exists")))
    plan = plan_of(shapes=[a_shape(selector={label_keys.ZONE: "zone-b"})], pods=pods(2))
    custom = the_claim(plan_of(pods=pods(1), nodepools=[pool]))

    claim = the_claim(plan)
    stated = {one.key: sorted(one.values) for one in claim.requirements}
    assert stated[label_keys.ZONE] == ["zone-b"]
    assert stated[label_keys.CAPACITY_TYPE] == ["on-demand", "spot"]
    assert stated[label_keys.INSTANCE_TYPE] == sorted(claim.instance_types)
    assert label_keys.INITIALIZED not in claim.requirements
    assert dict(custom.labels)[TEAM] == "red"
    assert (claim.nodepool_uid, claim.nodepool_hash) == ("uid-default", "hash-default")


def test_requests_of_a_claim_hold_pods_and_the_least_daemon_overhead() -> None:
    plan = plan_of(
        shapes=[a_shape(), a_shape(100, cpu="250m", memory="1Gi")],
        pods=pods(2),
        daemonsets=[a_daemonset()],
    )

    assert the_claim(plan).requests == amounts(cpu="2250m", memory="3Gi", pods=3)


@pytest.mark.parametrize(
    ("daemon", "fits"),
    [
        pytest.param({}, "m-8", id="it takes room"),
        pytest.param({"selector": {label_keys.ARCH: "arm64"}}, "m-4", id="it runs elsewhere"),
        pytest.param(
            {"selector": {label_keys.INSTANCE_TYPE: "m-4"}}, "m-8", id="it runs on one type"
        ),
        pytest.param(
            {
                "required_node_terms": (
                    a_node_term((label_keys.ARCH, "In", ["arm64"])),
                    a_node_term((label_keys.OS, "In", ["linux"])),
                )
            },
            "m-8",
            id="any of its terms",
        ),
    ],
)
def test_daemons_take_room_on_the_types_on_which_they_run(
    daemon: dict[str, Any], fits: str
) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="3800m"), a_shape(100, cpu="500m", **daemon)],
        pods=pods(1),
        daemonsets=[a_daemonset()],
    )

    assert the_claim(plan).instance_types[0] == fits


def test_daemons_that_do_not_tolerate_the_pool_take_no_room() -> None:
    plan = plan_of(
        shapes=[
            a_shape(cpu="3800m", tolerations=(a_toleration("dedicated"),)),
            a_shape(100, cpu="500m"),
        ],
        pods=pods(1),
        nodepools=[a_pool(taints=(a_taint(),))],
        daemonsets=[a_daemonset()],
    )

    assert the_claim(plan).instance_types[0] == "m-4"


def test_a_host_port_of_a_daemon_is_taken_on_every_new_node() -> None:
    plan = plan_of(
        shapes=[a_shape(host_ports=(a_port(80),)), a_shape(100, host_ports=(a_port(80),))],
        pods=pods(1),
        daemonsets=[a_daemonset()],
    )

    assert the_rejection(plan).rule is Rule.HOST_PORTS


def test_pods_with_one_host_port_get_a_node_each() -> None:
    plan = plan_of(shapes=[a_shape(host_ports=(a_port(80),))], pods=pods(3))

    assert on_new(plan) == [1, 1, 1]


def test_a_stale_catalogue_buys_nothing_and_says_so() -> None:
    old = a_catalogue(observed_at=NOW - timedelta(minutes=16))
    plan = plan_of(pods=pods(1), catalogues=[old])

    assert the_rejection(plan).rule is Rule.CATALOGUE
    assert [one.rule for one in plan.pool_messages] == [Rule.CATALOGUE]


def test_the_instant_of_the_decision_tells_what_is_stale() -> None:
    later = SolveOptions(now=NOW + timedelta(minutes=16))

    assert left_over(plan_of(later, pods=pods(1))) == 1


def test_live_nodes_may_have_more_than_the_catalogue_promises() -> None:
    observed = ObservedAllocatable(
        node_class=NODE_CLASS, instance_type="m-4", allocatable=amounts(cpu="4500m")
    )
    plan = plan_of(shapes=[a_shape(cpu="4400m")], pods=pods(1), observed_allocatable=[observed])

    assert the_claim(plan).instance_types[0] == "m-4"


def test_live_nodes_correct_what_the_catalogue_promises() -> None:
    observed = ObservedAllocatable(
        node_class=NODE_CLASS, instance_type="m-4", allocatable=amounts(cpu="3500m")
    )
    plan = plan_of(shapes=[a_shape(cpu="3600m")], pods=pods(1), observed_allocatable=[observed])

    assert the_claim(plan).instance_types[0] == "m-8"


def test_an_offering_may_override_what_a_type_has() -> None:
    offerings = (
        an_offering("zone-a"),
        an_offering("zone-b", capacity_override=amounts(cpu=8), price_nanos_per_hour=2 * 10**9),
    )
    plan = plan_of(
        shapes=[a_shape(cpu="6")],
        pods=pods(1),
        catalogues=[a_catalogue(a_type(offerings=offerings))],
    )

    assert the_claim(plan).cheapest.zone == "zone-b"


def test_huge_pages_come_out_of_memory() -> None:
    kind = a_type(capacity=amounts(cpu=4, memory="16Gi", pods=10, hugepages_2Mi="8Gi"))
    plan = plan_of(shapes=[a_shape(memory="9Gi")], pods=pods(1), catalogues=[a_catalogue(kind)])

    assert the_rejection(plan).rule is Rule.RESOURCES


@pytest.mark.parametrize(
    ("volumes", "expected"),
    [
        pytest.param([["zone-b"]], ["zone-b"], id="one zone"),
        pytest.param([["zone-c"], ["zone-a"]], [], id="two volumes that contradict"),
        pytest.param([["zone-z", "zone-c"]], ["zone-c"], id="any alternative"),
    ],
)
def test_volumes_decide_where_a_pod_may_run(volumes: list[list[str]], expected: list[str]) -> None:
    alternatives = tuple(
        tuple(require((label_keys.ZONE, "In", [zone])) for zone in zones_of) for zones_of in volumes
    )
    plan = plan_of(shapes=[a_shape(volumes=alternatives)], pods=pods(1))

    assert zones(plan) == expected
    assert all(one.reason.rejections[0].rule is Rule.VOLUME_TOPOLOGY for one in plan.unplaced)


def test_a_pool_without_offerings_is_reported_and_others_go_on() -> None:
    dead = replace(NODE_CLASS, name="dead")
    kind = a_type(offerings=(an_offering(available=False),))
    pool = a_pool("sold-out", weight=5)
    pool = replace(pool, template=replace(pool.template, node_class=dead))
    plan = plan_of(
        pods=pods(1),
        nodepools=[pool, a_pool()],
        catalogues=[a_catalogue(), a_catalogue(kind, node_class=dead)],
    )

    assert the_claim(plan).nodepool == "default"
    assert [(one.nodepool, one.rule) for one in plan.pool_messages] == [
        ("sold-out", Rule.POOL_REQUIREMENTS)
    ]


@pytest.mark.parametrize(
    ("asked", "placed"),
    [
        pytest.param((label_keys.HOSTNAME, "Exists"), 1, id="any name"),
        pytest.param((label_keys.HOSTNAME, "NotIn", ["node-1"]), 1, id="not a given name"),
        pytest.param((label_keys.HOSTNAME, "In", ["node-1"]), 0, id="a given name"),
        pytest.param((label_keys.HOSTNAME, "DoesNotExist"), 0, id="no name"),
        pytest.param((label_keys.HOSTNAME, "Gt", ["1"]), 0, id="a number"),
    ],
)
def test_a_new_node_has_a_name_that_nobody_knows(asked: Any, placed: int) -> None:
    plan = plan_of(shapes=[a_shape(required_node_terms=(a_node_term(asked),))], pods=pods(1))

    assert len(plan.nodeclaims) == placed


def test_a_pool_whose_label_contradicts_its_requirements_is_reported_and_buys_nothing() -> None:
    pool = a_pool(labels={"disk": "ssd"}, requirements=require(("disk", "DoesNotExist")))
    plan = plan_of(pods=pods(1), nodepools=[pool])

    assert not plan.nodeclaims
    (said,) = plan.pool_messages
    assert said.rule is Rule.POOL_REQUIREMENTS
    assert said.message == "its requirements and labels leave no value for disk"


def test_the_largest_requests_are_refused_and_nothing_overflows() -> None:
    plan = plan_of(shapes=[a_shape(memory=str(2**60 - 1))], pods=pods(3))

    assert the_rejection(plan).rule is Rule.RESOURCES
