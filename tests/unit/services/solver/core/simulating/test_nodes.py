"""Nodes that are taken away, cordoned or added, and what becomes of their pods."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.device import Device, DevicePool
from libs.domain.errors import InvalidRequest
from libs.domain.pod import Owner, PodPhase, PodRow
from libs.domain.scenario import AddNodes, CordonNodes, RemoveNodes
from libs.domain.snapshot import inconsistencies
from libs.domain.solution import SolveOptions
from services.solver.core.simulating.edited import edited
from services.solver.core.solve import solve
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_snapshot,
    a_taint,
    a_type,
    amounts,
    an_owner,
    require,
)

DAEMON = Owner(api_version="apps/v1", kind="DaemonSet", name="agent", uid="uid-agent")
STATIC = Owner(api_version="v1", kind="Node", name="node-1", uid="uid-node-1")
SET = Owner(api_version="apps/v1", kind="StatefulSet", name="db", uid="uid-db")


def the_pod(**override: Any) -> PodRow:
    row = a_pod("web", node="node-1", phase=PodPhase.RUNNING, ready=True, started_ms=5)
    return row._replace(**override)


@pytest.mark.parametrize(
    ("row", "waits"),
    [
        pytest.param(the_pod(), True, id="nobody's pod"),
        pytest.param(the_pod(owner=an_owner()), True, id="a replica"),
        pytest.param(the_pod(do_not_disrupt_ms=-1), True, id="protected from disruption"),
        pytest.param(the_pod(owner=DAEMON), False, id="a daemon"),
        pytest.param(the_pod(owner=STATIC), False, id="a static pod"),
        pytest.param(the_pod(phase=PodPhase.SUCCEEDED), False, id="one that has ended"),
        pytest.param(the_pod(deleting_ms=9), False, id="one that is going"),
        pytest.param(the_pod(owner=SET, deleting_ms=9), True, id="one that comes back"),
    ],
)
def test_a_pod_waits_for_another_place_if_it_would_come_back(row: PodRow, waits: bool) -> None:
    snapshot = a_snapshot(pods=[row], nodes=[a_node()])

    after = edited(snapshot, [RemoveNodes(names=("node-1",))])

    assert list(after.nodes) == []
    expected = row._replace(
        node="",
        phase=PodPhase.PENDING,
        ready=False,
        provisionable=True,
        started_ms=0,
        deleting_ms=0,
    )
    assert list(after.pods.rows()) == ([expected] if waits else [])


def test_a_node_goes_with_its_claim_and_its_devices() -> None:
    pools = [
        DevicePool(driver="gpu", pool="one", devices=(Device(name="a"),), node_name="node-1"),
        DevicePool(driver="gpu", pool="two", devices=(Device(name="a"),), node_name="node-2"),
    ]
    snapshot = a_snapshot(
        nodes=[a_node("node-1", nodeclaim="claim-1"), a_node("node-2", nodeclaim="claim-2")],
        nodeclaims=[a_nodeclaim("claim-1"), a_nodeclaim("claim-2")],
        device_pools=pools,
    )

    after = edited(snapshot, [RemoveNodes(names=("node-1",))])

    assert list(after.nodes) == ["node-2"]
    assert list(after.nodeclaims) == ["claim-2"]
    assert list(after.device_pools) == ["gpu/two"]
    assert inconsistencies(after) == ()


def test_a_claim_in_flight_can_be_taken_away() -> None:
    snapshot = a_snapshot(nodeclaims=[a_nodeclaim("claim-1"), a_nodeclaim("claim-2")])

    after = edited(snapshot, [RemoveNodes(names=("claim-2",))])

    assert list(after.nodeclaims) == ["claim-1"]


def test_nothing_new_comes_to_a_cordoned_node() -> None:
    snapshot = a_snapshot(pods=[a_pod()], nodes=[a_node()], nodepools=[])
    assert solve(snapshot, SolveOptions()).pods.on_existing == 1

    after = edited(snapshot, [CordonNodes(names=("node-1",))])

    assert solve(after, SolveOptions()).pods.unplaced == 1


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        pytest.param(
            RemoveNodes(names=("node-1", "noed-1")),
            'edits[0].remove_nodes.names[1]: there is no node "noed-1"; perhaps "node-1"',
            id="remove",
        ),
        pytest.param(
            CordonNodes(names=("x",)),
            'edits[0].cordon_nodes.names[0]: there is no node "x"; there is "node-1"',
            id="cordon",
        ),
    ],
)
def test_a_node_that_is_not_there_is_named(edit: RemoveNodes | CordonNodes, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        edited(a_snapshot(nodes=[a_node()]), [edit])

    assert str(refused.value) == message


POOL = a_pool(
    labels={"team": "blue"},
    taints=(a_taint(),),
    startup_taints=(a_taint("starting"),),
    requirements=require(("tier", "In", ["gold"]), (label_keys.ARCH, "In", ["amd64"])),
)
ADD = AddNodes(
    nodepool="default", instance_type="m-4", zone="zone-b", capacity_type="spot", count=2
)


def test_an_added_node_is_as_its_pool_would_get_it() -> None:
    kind = a_type("m-4", overhead=amounts(cpu=1))
    snapshot = a_snapshot(nodepools=[POOL], catalogues=[a_catalogue(kind)])

    after = edited(snapshot, [ADD])

    assert list(after.nodes) == ["default-whatif-1", "default-whatif-2"]
    assert list(after.nodeclaims) == list(after.nodes)
    assert inconsistencies(after) == ()
    node = after.nodes["default-whatif-1"]
    assert node.allocatable == amounts(cpu=3, memory="16Gi", pods=110)
    assert node.taints == POOL.template.taints
    assert dict(node.labels) == {
        "team": "blue",
        "tier": "gold",
        "karpenter.kwok.sh/kwoknodeclass": "default",
        label_keys.NODEPOOL: "default",
        label_keys.INSTANCE_TYPE: "m-4",
        label_keys.ZONE: "zone-b",
        label_keys.CAPACITY_TYPE: "spot",
        label_keys.ARCH: "amd64",
        label_keys.OS: "linux",
        label_keys.HOSTNAME: node.name,
        label_keys.REGISTERED: "true",
        label_keys.INITIALIZED: "true",
    }


def test_added_nodes_cost_what_they_are_sold_for_and_take_pods() -> None:
    snapshot = a_snapshot(pods=[a_pod()], catalogues=[a_catalogue(a_type("m-4", price=10**9))])

    solution = solve(edited(snapshot, [ADD]), SolveOptions())

    assert solution.cost.existing_nanos_per_hour == 2 * 9 * 10**8
    assert (solution.pods.on_existing, solution.cost.new_nanos_per_hour) == (1, 0)


def test_names_of_added_nodes_go_on_where_others_end() -> None:
    after = edited(edited(a_snapshot(), [ADD]), [ADD])

    assert list(after.nodes) == [f"default-whatif-{number}" for number in range(1, 5)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"nodepool": "defualt"},
            'add_nodes.nodepool: there is no nodepool "defualt"; perhaps "default"',
            id="pool",
        ),
        pytest.param(
            {"instance_type": "m4"},
            'add_nodes.instance_type: there is no instance type "m4"; '
            'there is "m-16", "m-2", "m-4", "m-8"',
            id="type",
        ),
        pytest.param(
            {"zone": "zone-d"},
            'add_nodes.zone: there is no spot offering of m-4 in zone "zone-d"; '
            'perhaps "zone-a", "zone-b", "zone-c"',
            id="zone",
        ),
        pytest.param(
            {"capacity_type": "reserved"},
            'add_nodes.capacity_type: there is no offering of m-4 with capacity type "reserved"; '
            'there is "on-demand", "spot"',
            id="capacity type",
        ),
        pytest.param(
            {"count": 200_001},
            "add_nodes.count: a scenario adds at most 200000 nodes",
            id="too many",
        ),
    ],
)
def test_a_node_that_cannot_be_bought_is_refused_by_field(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        edited(a_snapshot(), [replace(ADD, **change)])

    assert str(refused.value) == f"edits[0].{message}"


def test_a_pool_gets_no_node_that_it_does_not_allow() -> None:
    pool = a_pool(requirements=require((label_keys.ARCH, "In", ["arm64"])))

    with pytest.raises(InvalidRequest, match='nodepool "default" does not allow m-4 in zone-b'):
        edited(a_snapshot(nodepools=[pool]), [ADD])
