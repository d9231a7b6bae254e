"""What exists: nodes first, then claims in flight, each only where a pod really fits."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import ClaimCommand, NodeClaim
from libs.domain.pod import PodPhase, VolumeAttachCount
from libs.domain.reason import Rule, TargetKind
from libs.domain.solution import SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_daemonset,
    a_node,
    a_node_term,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_taint,
    a_toleration,
    amounts,
    an_owner,
    pods,
    require,
)
from tests.unit.services.solver.core.asking import left_over, on_new, on_nodes, plan_of

NO_EXECUTE = a_taint(effect="NoExecute")


@pytest.mark.parametrize(
    ("node", "shape", "fits"),
    [
        pytest.param({}, {}, True, id="plain"),
        pytest.param({"taints": (a_taint(),)}, {}, False, id="NoSchedule"),
        pytest.param({"taints": (NO_EXECUTE,)}, {}, False, id="NoExecute"),
        pytest.param(
            {"taints": (a_taint(),)},
            {"tolerations": (a_toleration("dedicated"),)},
            True,
            id="tolerated",
        ),
        pytest.param({"unschedulable": True}, {}, False, id="cordoned"),
        pytest.param(
            {"unschedulable": True}, {"tolerations": (a_toleration(),)}, True, id="cordon tolerated"
        ),
        pytest.param({"leaving": True}, {}, False, id="leaving"),
        pytest.param({}, {"cpu": "5"}, False, id="too little room"),
        pytest.param({}, {"extra": amounts(gpu=1)}, False, id="no such resource"),
        pytest.param(
            {"allocatable": amounts(cpu=4, memory="16Gi", pods=110, gpu=1)},
            {"extra": amounts(gpu=1)},
            True,
            id="extended resource",
        ),
        pytest.param({}, {"selector": {label_keys.ZONE: "zone-b"}}, False, id="another zone"),
        pytest.param({}, {"selector": {label_keys.REGION: "r"}}, False, id="known key not there"),
        pytest.param({"labels": {"a": "b"}}, {"selector": {"a": "b"}}, True, id="own label"),
        pytest.param(
            {"labels": {"n": "7"}},
            {"required_node_terms": (a_node_term(("n", "Gt", ["6"]), ("n", "Lt", ["8"])),)},
            True,
            id="bounds",
        ),
        pytest.param(
            {},
            {"required_node_terms": (a_node_term(("n", "NotIn", ["6"])),)},
            True,
            id="NotIn an absent key",
        ),
        pytest.param(
            {},
            {"required_node_terms": (a_node_term(("n", "Exists")),)},
            False,
            id="Exists of an absent key",
        ),
        pytest.param(
            {},
            {"required_node_terms": (a_node_term(node_names=("node-1",)),)},
            True,
            id="by name",
        ),
        pytest.param(
            {},
            {"required_node_terms": (a_node_term(excluded_node_names=("node-1",)),)},
            False,
            id="excluded by name",
        ),
        pytest.param(
            {},
            {
                "required_node_terms": (
                    a_node_term((label_keys.ZONE, "In", ["zone-z"])),
                    a_node_term((label_keys.ZONE, "In", ["zone-a"])),
                )
            },
            True,
            id="the second of two terms",
        ),
        pytest.param(
            {},
            {"volumes": ((require((label_keys.ZONE, "In", ["zone-b"])),),)},
            False,
            id="volume elsewhere",
        ),
    ],
)
def test_a_node_takes_a_pod_or_not(node: dict[str, Any], shape: dict[str, Any], fits: bool) -> None:
    plan = plan_of(shapes=[a_shape(**shape)], pods=pods(1), nodes=[a_node(**node)], nodepools=[])

    assert on_nodes(plan) == ({"node-1": 1} if fits else {})


def test_initialized_nodes_come_first_then_names_then_claims_then_new_ones() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="4")],
        pods=pods(5),
        nodes=[a_node("b"), a_node("a", initialized=False), a_node("c")],
        nodeclaims=[a_nodeclaim(allocatable=amounts(cpu=4, memory="16Gi", pods=10))],
    )

    by_pod = {uid: one.target for one in plan.nominations for uid in one.pod_uids}
    assert [by_pod.get(f"uid-s1-0000{number}") for number in range(1, 6)] == [
        "b",
        "c",
        "a",
        "claim-1",
        None,
    ]
    assert on_new(plan) == [1]


def test_nodes_are_tried_by_name_in_whatever_order_they_are_given() -> None:
    named = {name: a_node(name) for name in ("b", "c", "a")}
    snapshot = replace(a_snapshot(shapes=[a_shape()], pods=pods(1)), nodes=named)

    assert on_nodes(solve(snapshot, SolveOptions()).plan) == {"a": 1}


def test_running_and_terminating_pods_take_room_and_finished_ones_do_not() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="1"), a_shape(2, cpu="1")],
        pods=[
            *pods(4),
            a_pod("runs", 2, node="node-1"),
            a_pod("ends", 2, node="node-1", deleting_ms=1),
            a_pod("done", 2, node="node-1", phase=PodPhase.SUCCEEDED),
        ],
        nodes=[a_node()],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 2}
    assert left_over(plan) == 2


def test_a_resource_that_is_overdrawn_does_not_matter_to_who_asks_none_of_it() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="0", memory="1Gi"), a_shape(2, cpu="5")],
        pods=[*pods(1), a_pod("runs", 2, node="node-1")],
        nodes=[a_node()],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 1}


@pytest.mark.parametrize(
    ("daemon_pods", "placed"),
    [
        pytest.param([], 3, id="still to come"),
        pytest.param(
            [a_pod("agent", 100, node="node-1", owner=an_owner("DaemonSet", "agent"))],
            3,
            id="there",
        ),
        pytest.param(
            [a_pod("other", 100, node="node-1", owner=an_owner("DaemonSet", "other"))],
            2,
            id="only another daemon is there",
        ),
    ],
)
def test_room_is_kept_for_daemons_that_are_still_to_come(
    daemon_pods: list[Any], placed: int
) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="1"), a_shape(100, cpu="1")],
        pods=[*pods(4), *daemon_pods],
        nodes=[a_node()],
        daemonsets=[a_daemonset()],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": placed}


@pytest.mark.parametrize(
    ("taken", "asked", "fits"),
    [
        pytest.param(a_port(80), a_port(80), False, id="same"),
        pytest.param(a_port(80), a_port(81), True, id="another port"),
        pytest.param(a_port(80), a_port(80, protocol="UDP"), True, id="another protocol"),
        pytest.param(
            a_port(80, ip="10.0.0.1"), a_port(80, ip="10.0.0.2"), True, id="other address"
        ),
        pytest.param(a_port(80, ip="10.0.0.1"), a_port(80), False, id="every address"),
    ],
)
def test_host_ports_exclude_each_other(taken: Any, asked: Any, fits: bool) -> None:
    plan = plan_of(
        shapes=[a_shape(host_ports=(asked,)), a_shape(2, host_ports=(taken,))],
        pods=[*pods(1), a_pod("runs", 2, node="node-1")],
        nodes=[a_node()],
        nodepools=[],
    )

    assert on_nodes(plan) == ({"node-1": 1} if fits else {})
    assert fits or plan.unplaced[0].reason.existing == ((Rule.HOST_PORTS, 1),)


def test_volumes_are_attached_up_to_the_limit_of_their_driver() -> None:
    disk = VolumeAttachCount(driver="disk", count=2)
    plan = plan_of(
        shapes=[
            a_shape(cpu="100m", volume_attach_counts=(disk,)),
            a_shape(2, cpu="100m", volume_attach_counts=(disk,)),
        ],
        pods=[*pods(3), a_pod("runs", 2, node="node-1")],
        nodes=[a_node(volume_limits=(VolumeAttachCount(driver="disk", count=7),))],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 2}
    assert plan.unplaced[0].reason.existing == ((Rule.VOLUME_LIMITS, 1),)


def test_volumes_of_other_drivers_have_no_limit() -> None:
    disk = VolumeAttachCount(driver="disk", count=1)
    plan = plan_of(
        shapes=[a_shape(cpu="100m", volume_attach_counts=(disk,))],
        pods=pods(3),
        nodes=[a_node(volume_limits=(VolumeAttachCount(driver="other", count=1),))],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 3}


TYPES = require((label_keys.INSTANCE_TYPE, "In", ["m-4", "m-8"]))


@pytest.mark.parametrize(
    ("claim", "shape", "placed"),
    [
        pytest.param(a_nodeclaim(requirements=TYPES), {}, 4, id="the least of its types"),
        pytest.param(a_nodeclaim(), {}, 2, id="any type"),
        pytest.param(
            a_nodeclaim(requirements=TYPES), {"selector": {label_keys.ARCH: "amd64"}}, 4, id="all"
        ),
        pytest.param(
            a_nodeclaim(requirements=TYPES),
            {"selector": {label_keys.ZONE: "zone-a"}},
            0,
            id="it may come up in another zone",
        ),
        pytest.param(
            a_nodeclaim(requirements=require((label_keys.ZONE, "In", ["zone-a"]))),
            {"selector": {label_keys.ZONE: "zone-a"}},
            2,
            id="its zone is sure",
        ),
        pytest.param(
            a_nodeclaim(requirements=TYPES),
            {"selector": {label_keys.INSTANCE_TYPE: "m-4"}},
            0,
            id="it may become another type",
        ),
        pytest.param(a_nodeclaim(labels={"a": "b"}), {"selector": {"a": "b"}}, 2, id="label"),
        pytest.param(
            a_nodeclaim(),
            {"required_node_terms": (a_node_term((label_keys.HOSTNAME, "Exists")),)},
            2,
            id="any host name",
        ),
        pytest.param(a_nodeclaim(taints=(a_taint(),)), {}, 0, id="taint"),
        pytest.param(a_nodeclaim(startup_taints=(a_taint(),)), {}, 2, id="start-up taint"),
        pytest.param(a_nodeclaim(deleting_at=NOW), {}, 0, id="deleting"),
        pytest.param(
            a_nodeclaim(command=ClaimCommand(id="c", replacements=())), {}, 0, id="being replaced"
        ),
        pytest.param(
            a_nodeclaim(command=ClaimCommand(id="c", replacements=("not-there-yet",))),
            {},
            2,
            id="its replacement is not there yet",
        ),
        pytest.param(
            a_nodeclaim(allocatable=amounts(cpu=3, memory="16Gi", pods=10)), {}, 3, id="launched"
        ),
        pytest.param(
            a_nodeclaim(
                labels={label_keys.ZONE: "zone-b"},
                allocatable=amounts(cpu=3, memory="16Gi", pods=10),
            ),
            {"selector": {label_keys.ZONE: "zone-b"}},
            3,
            id="launched in a zone",
        ),
    ],
)
def test_a_claim_in_flight_takes_what_it_surely_has_room_for(
    claim: NodeClaim, shape: dict[str, Any], placed: int
) -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="1", **shape)], pods=pods(5), nodeclaims=[claim], nodepools=[]
    )

    assert on_nodes(plan) == ({"claim-1": placed} if placed else {})
    assert all(one.target_kind is TargetKind.NODECLAIM for one in plan.nominations)


@pytest.mark.parametrize(
    ("pod", "daemon"),
    [
        pytest.param(
            {label_keys.ZONE: "zone-b"}, {label_keys.INSTANCE_TYPE: "m-16"}, id="of one type"
        ),
        pytest.param({}, {label_keys.ZONE: "zone-a"}, id="of one zone"),
        pytest.param({}, {label_keys.CAPACITY_TYPE: "spot"}, id="of one capacity type"),
    ],
)
def test_what_was_bought_for_pods_takes_them_again(
    pod: dict[str, str], daemon: dict[str, str]
) -> None:
    given: dict[str, Any] = {
        "shapes": [
            a_shape(cpu="4", selector=pod),
            a_shape(100, cpu="500m", selector=daemon),
        ],
        "pods": pods(5),
        "daemonsets": [a_daemonset()],
    }
    first = plan_of(**given)
    claims = [
        a_nodeclaim(
            f"claim-{claim.index}",
            requirements=claim.requirements,
            requests=claim.requests,
            labels=dict(claim.labels),
        )
        for claim in first.nodeclaims
    ]

    second = plan_of(**given, nodeclaims=claims)

    assert on_new(second) == []
    assert sorted(on_nodes(second).values()) == sorted(on_new(first))


def test_a_node_of_a_claim_counts_once() -> None:
    node: Node = a_node(nodeclaim="claim-1")
    plan = plan_of(
        shapes=[a_shape(cpu="4")],
        pods=pods(2),
        nodes=[node],
        nodeclaims=[a_nodeclaim("claim-1", allocatable=node.allocatable)],
        nodepools=[a_pool(limits=amounts(nodes=1))],
    )

    assert on_nodes(plan) == {"node-1": 1}
    assert left_over(plan) == 1


def test_daemons_take_room_of_a_claim_whose_type_its_pool_no_longer_buys() -> None:
    small = require((label_keys.INSTANCE_TYPE, "In", ["m-2"]))
    large = require((label_keys.INSTANCE_TYPE, "In", ["m-4"]))
    plan = plan_of(
        shapes=[a_shape(cpu="1"), a_shape(100, cpu="500m")],
        pods=pods(4),
        nodeclaims=[a_nodeclaim(requirements=large)],
        nodepools=[a_pool(requirements=small, limits=amounts(nodes=0))],
        daemonsets=[a_daemonset()],
    )

    assert on_nodes(plan) == {"claim-1": 3}
