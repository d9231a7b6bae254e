"""Where pods with claims of devices go: nodes, claims in flight, new claims."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.device import REQUESTED_DRIVERS, DeviceClaim, DeviceHold, DevicePool, named_node
from libs.domain.plan import Plan
from libs.domain.pod import Target
from libs.domain.reason import Rule, TargetKind
from libs.domain.requirements import Requirements
from libs.domain.solution import SolveOptions
from tests.support.builders import (
    a_catalogue,
    a_daemonset,
    a_node,
    a_nodeclaim,
    a_pod,
    a_shape,
    a_type,
    amounts,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import (
    left_over,
    on_new,
    on_nodes,
    the_claim,
    the_rejection,
)
from tests.unit.services.solver.core.devices.planning import (
    CATALOGUE,
    FEW,
    OPEN,
    ZONE_B,
    a_gpu_type,
    claiming,
    gpus_of,
    plan_with,
)
from tests.unit.services.solver.core.devices.pools import (
    DRIVER,
    a_claim,
    a_device,
    a_pool,
    a_request,
    a_way,
)

# The gate.


def test_by_default_pods_with_claims_wait() -> None:
    plan = plan_with(gpus_of("node-1", 1), nodes=[a_node()], gates=SolveOptions())

    assert (on_nodes(plan), on_new(plan), left_over(plan)) == ({}, [], 1)
    assert the_rejection(plan).rule is Rule.DEVICES
    assert plan.unplaced[0].reason.existing == ((Rule.DEVICES, 1),)


# Nodes.


def test_a_node_takes_as_many_pods_as_it_has_devices() -> None:
    plan = plan_with(gpus_of("node-1", 2), nodes=[a_node()], pods=pods(3), **FEW)

    assert (on_nodes(plan), left_over(plan)) == ({"node-1": 2}, 1)


def test_pods_go_to_the_node_that_has_the_devices() -> None:
    nodes = [a_node("node-1"), a_node("node-2")]

    plan = plan_with(gpus_of("node-2", 1), nodes=nodes)

    assert on_nodes(plan) == {"node-2": 1}


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param((), {"node-1": 1}, id="everywhere"),
        pytest.param(ZONE_B, {"node-2": 1}, id="by label"),
        pytest.param((named_node("node-2"),), {"node-2": 1}, id="by name"),
    ],
)
def test_devices_of_the_cluster_are_where_their_terms_say(
    terms: tuple[Requirements, ...], expected: dict[str, int]
) -> None:
    nodes = [a_node("node-1"), a_node("node-2", labels={label_keys.ZONE: "zone-b"})]
    pool = a_pool(a_device("net"), node_terms=terms)

    assert on_nodes(plan_with(pool, nodes=nodes)) == expected


def test_a_device_may_be_elsewhere_than_its_pool() -> None:
    nodes = [a_node("node-1"), a_node("node-2")]
    here = a_device("here", node_terms=(named_node("node-2"),))

    assert on_nodes(plan_with(a_pool(here), nodes=nodes)) == {"node-2": 1}


@pytest.mark.parametrize(
    ("second", "placed"),
    [
        pytest.param("node-1", 0, id="of one node"),
        pytest.param("node-2", 1, id="of two nodes"),
    ],
)
def test_devices_of_one_name_spoil_the_pool_where_both_are_seen(second: str, placed: int) -> None:
    twice = [a_device("x", node_terms=(named_node(name),)) for name in ("node-1", second)]

    plan = plan_with(a_pool(*twice), nodes=[a_node()], **FEW)

    assert sum(on_nodes(plan).values()) == placed


def test_two_nodes_do_not_get_the_same_device() -> None:
    nodes = [
        a_node(name, allocatable=amounts(cpu=1, memory="1Gi", pods=1)) for name in ("n1", "n2")
    ]

    plan = plan_with(a_pool(a_device("net")), nodes=nodes, pods=pods(2), **FEW)

    assert (on_nodes(plan), left_over(plan)) == ({"n1": 1}, 1)


def _held(*uids: str, **fields: Any) -> DevicePool:
    hold = DeviceHold(device="gpu-0", claim="default/c", reserved_for=uids, **fields)
    return gpus_of("node-1", 1, holds=(hold,))


@pytest.mark.parametrize(
    ("pool", "placed"),
    [
        pytest.param(gpus_of("node-1", 1, allocated=("gpu-0",)), 0, id="whoever goes"),
        pytest.param(_held("uid-other"), 0, id="by a pod that stays"),
        pytest.param(_held("uid-moving"), 1, id="by a pod that moves"),
        pytest.param(
            _held("uid-moving", "uid-other"), 0, id="by one that moves and one that stays"
        ),
    ],
)
def test_what_others_hold_is_free_when_all_of_them_move(pool: DevicePool, placed: int) -> None:
    nodes = [a_node(), a_node("going", leaving=True)]
    waiting = [a_pod("a"), a_pod("moving", 2, node="going", started_ms=1)]

    plan = plan_with(pool, nodes=nodes, pods=waiting, shapes=[claiming(), a_shape(2)], **FEW)

    taken = [uid for one in plan.nominations for uid in one.pod_uids]
    assert ("uid-a" in taken) == bool(placed)


# Claims in flight.


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({label_keys.INSTANCE_TYPE: "two"}, {"claim-1": 2}, id="type is known"),
        pytest.param({}, {}, id="type is open"),
    ],
)
def test_a_claim_in_flight_brings_what_its_type_surely_brings(
    labels: dict[str, str], expected: dict[str, int]
) -> None:
    claim = a_nodeclaim(labels=labels, allocatable=amounts(cpu=4, memory="16Gi", pods=110))

    plan = plan_with(nodeclaims=[claim], catalogues=[CATALOGUE], nodepools=[], pods=pods(3))

    assert on_nodes(plan) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        pytest.param(["two"], {"claim-1": 2}, id="one type"),
        pytest.param(["one", "two"], {"claim-1": 1}, id="the least of its types"),
        pytest.param(["plain", "two"], {}, id="one of its types has none"),
    ],
)
def test_a_claim_that_is_not_launched_brings_what_each_of_its_types_brings(
    types: list[str], expected: dict[str, int]
) -> None:
    claim = a_nodeclaim(requirements=require((label_keys.INSTANCE_TYPE, "In", types)))

    plan = plan_with(nodeclaims=[claim], catalogues=[CATALOGUE], pods=pods(3))

    assert on_nodes(plan) == expected


def test_pods_with_devices_stay_where_an_earlier_plan_put_them() -> None:
    target = Target(TargetKind.NODE, "node-2")
    waiting = [*pods(1, target=target), a_pod("late")]
    pools = [gpus_of("node-1", 1), gpus_of("node-2", 1)]

    plan = plan_with(*pools, nodes=[a_node("node-1"), a_node("node-2")], pods=waiting)

    assert {one.target: one.pod_uids for one in plan.nominations} == {
        "node-1": ("uid-late",),
        "node-2": (waiting[0].uid,),
    }


def test_a_node_bought_for_devices_has_them_once_their_driver_is_there() -> None:
    claim = a_nodeclaim(
        labels={label_keys.INSTANCE_TYPE: "two"}, annotations=((REQUESTED_DRIVERS, DRIVER),)
    )
    node = a_node(nodeclaim="claim-1", labels={label_keys.INSTANCE_TYPE: "two"})
    given: dict[str, Any] = {"catalogues": [CATALOGUE], "nodepools": [], "pods": pods(3)}

    plan = plan_with(nodeclaims=[claim], nodes=[node], **given)
    unasked = replace(claim, annotations=())

    assert on_nodes(plan) == {"node-1": 2}
    assert on_nodes(plan_with(nodeclaims=[unasked], nodes=[node], **given)) == {}


def test_a_node_that_is_not_initialized_counts_with_what_its_type_brings() -> None:
    claim = a_nodeclaim(labels={label_keys.INSTANCE_TYPE: "two"})
    node = a_node(nodeclaim="claim-1", initialized=False, labels={label_keys.INSTANCE_TYPE: "two"})
    given: dict[str, Any] = {
        "nodeclaims": [claim],
        "catalogues": [CATALOGUE],
        "nodepools": [],
        "pods": pods(3),
    }

    assert on_nodes(plan_with(nodes=[node], **given)) == {"node-1": 2}
    assert on_nodes(plan_with(gpus_of("node-1", 1), nodes=[node], **given)) == {"node-1": 1}
    ready = replace(node, initialized=True)
    assert on_nodes(plan_with(nodes=[ready], **given)) == {}


# New claims.


def _types(plan: Plan) -> list[tuple[str, ...]]:
    return [claim.instance_types for claim in plan.nodeclaims]


@pytest.mark.parametrize(
    ("count", "types"),
    [
        pytest.param(1, [("one", "two")], id="one device"),
        pytest.param(2, [("two",)], id="two devices"),
        pytest.param(3, [], id="more than any type has"),
    ],
)
def test_a_new_claim_lists_types_that_bring_the_devices(
    count: int, types: list[tuple[str, ...]]
) -> None:
    shape = claiming(a_claim(a_request(count=count)))

    plan = plan_with(shapes=[shape], catalogues=[CATALOGUE])

    assert _types(plan) == types


def test_pods_share_a_new_node_as_long_as_it_has_devices() -> None:
    plan = plan_with(pods=pods(5), catalogues=[CATALOGUE])

    assert sorted(on_new(plan)) == [1, 2, 2]
    assert sorted(_types(plan)) == [("one", "two"), ("two",), ("two",)]


def test_pods_without_claims_join_without_taking_devices() -> None:
    shapes = [claiming(cpu="2"), a_shape(2)]

    plan = plan_with(shapes=shapes, pods=[*pods(1), *pods(1, 2)], catalogues=[CATALOGUE])

    assert on_new(plan) == [2]
    assert _types(plan) == [("one", "two")]


def test_a_claim_names_the_drivers_that_its_node_must_wait_for() -> None:
    plan = plan_with(shapes=[claiming()], catalogues=[CATALOGUE])

    assert dict(the_claim(plan).annotations)["karpenter.sh/requested-dra-drivers"] == DRIVER


def test_devices_of_the_cluster_narrow_a_new_claim() -> None:
    pool = a_pool(a_device("net"), node_terms=ZONE_B)

    plan = plan_with(pool, **FEW)

    claim = the_claim(plan)
    assert str(claim.requirements.get(label_keys.ZONE)) == f"{label_keys.ZONE} In [zone-b]"
    assert "karpenter.sh/requested-dra-drivers" not in dict(claim.annotations)


def test_devices_of_a_named_node_are_not_for_new_ones() -> None:
    plan = plan_with(a_pool(a_device("net", node_terms=(named_node("other"),))), **FEW)

    assert (on_new(plan), left_over(plan)) == ([], 1)


def test_new_nodes_do_not_get_the_same_device_of_the_cluster() -> None:
    small = [a_catalogue(a_type("small", capacity=amounts(cpu=1, memory="1Gi", pods=1)))]

    plan = plan_with(a_pool(a_device("net-0"), a_device("net-1")), pods=pods(3), catalogues=small)

    assert (on_new(plan), left_over(plan)) == ([1, 1], 1)


def test_all_devices_of_a_new_node_are_all_that_its_type_brings() -> None:
    both = [claiming(a_claim(a_request(all=True))), claiming(number=2)]

    plan = plan_with(shapes=both, pods=[*pods(1), *pods(1, 2)], catalogues=[CATALOGUE])

    assert sorted(on_new(plan)) == [1, 1]


# Daemons.


@pytest.mark.parametrize(
    ("gates", "claim", "cheapest"),
    [
        pytest.param(SolveOptions(), a_claim(), "one", id="ignored with the gate closed"),
        pytest.param(OPEN, a_claim(), "large", id="where there is a device of a type's own"),
        pytest.param(OPEN, a_claim(a_request(a_way(count=2))), "one", id="nowhere, of too few"),
        pytest.param(OPEN, a_claim(a_request(a_way("none"))), "one", id="nowhere, of no class"),
        pytest.param(OPEN, DeviceClaim(), "large", id="everywhere, should it claim nothing"),
        pytest.param(
            OPEN,
            a_claim(claim="default/c", allocated_terms=ZONE_B),
            "large",
            id="everywhere, should its claim be allocated",
        ),
    ],
)
def test_daemons_with_claims_take_room_of_types_that_serve_them(
    gates: SolveOptions, claim: DeviceClaim, cheapest: str
) -> None:
    small = a_gpu_type("one", 1, 10, capacity=amounts(cpu=2, memory="8Gi", pods=10))
    large = a_gpu_type("large", 1, 20, capacity=amounts(cpu=4, memory="8Gi", pods=10))

    plan = plan_with(
        gates=gates,
        shapes=[a_shape(1, cpu="2"), claiming(claim, number=100, cpu="1")],
        daemonsets=[a_daemonset()],
        catalogues=[a_catalogue(small, large)],
    )

    assert the_claim(plan).instance_types[0] == cheapest


def test_a_daemon_finds_devices_of_the_cluster_on_every_type() -> None:
    small = a_gpu_type("small", 0, 10, capacity=amounts(cpu=2, memory="8Gi", pods=10))
    large = a_gpu_type("large", 0, 20, capacity=amounts(cpu=4, memory="8Gi", pods=10))

    plan = plan_with(
        a_pool(a_device("net-0")),
        shapes=[a_shape(1, cpu="2"), claiming(number=100, cpu="1")],
        daemonsets=[a_daemonset()],
        catalogues=[a_catalogue(small, large)],
    )

    assert the_claim(plan).instance_types[0] == "large"
