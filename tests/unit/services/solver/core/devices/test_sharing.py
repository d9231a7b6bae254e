"""Claims that pods share, and claims that are allocated."""

from typing import Any

import pytest

from libs.domain.device import DeviceHold, named_node
from libs.domain.pod import PodShape
from libs.domain.requirements import ANYTHING, Requirements
from tests.support.builders import a_node, a_pod, pods
from tests.unit.services.solver.core.asking import left_over, on_new, on_nodes
from tests.unit.services.solver.core.devices.planning import (
    CATALOGUE,
    FEW,
    ZONE_B,
    claiming,
    gpus_of,
    plan_with,
)
from tests.unit.services.solver.core.devices.pools import a_claim, a_device, a_pool, a_request


def _shared(number: int = 1, **fields: Any) -> PodShape:
    return claiming(a_claim(claim="default/c", **fields), number=number)


def test_pods_that_share_a_claim_share_its_device() -> None:
    plan = plan_with(gpus_of("node-1", 1), nodes=[a_node()], shapes=[_shared()], pods=pods(3))

    assert on_nodes(plan) == {"node-1": 3}


def test_a_claim_that_has_its_devices_needs_no_class_any_more() -> None:
    asked = a_request(device_class="missing")
    missing = a_claim(asked, claim="default/c", allocated_terms=(ANYTHING,))

    plan = plan_with(nodes=[a_node()], shapes=[claiming(missing)])

    assert on_nodes(plan) == {"node-1": 1}


def test_pods_that_share_a_claim_stay_on_the_node_of_its_device() -> None:
    nodes = [a_node(name) for name in ("node-1", "node-2")]
    pools = [gpus_of("node-1", 1), gpus_of("node-2", 1)]

    plan = plan_with(*pools, nodes=nodes, shapes=[_shared()], pods=pods(6), **FEW)

    assert (on_nodes(plan), left_over(plan)) == ({"node-1": 4}, 2)


def test_pods_that_share_a_claim_share_a_new_node() -> None:
    plan = plan_with(shapes=[_shared()], pods=pods(6), catalogues=[CATALOGUE])

    assert (on_new(plan), left_over(plan)) == ([4], 2)


def test_pods_that_share_a_device_of_the_cluster_may_be_on_several_nodes() -> None:
    plan = plan_with(a_pool(a_device("net")), shapes=[_shared()], pods=pods(6), **FEW)

    assert sorted(on_new(plan)) == [2, 4]


def test_a_claim_has_no_more_pods_than_it_may_have() -> None:
    reserved = tuple(f"uid-{index:03}" for index in range(254))
    shape = _shared(allocated_terms=(ANYTHING,), reserved_for=reserved)

    plan = plan_with(nodes=[a_node()], shapes=[shape], pods=pods(4))

    assert (on_nodes(plan), left_over(plan)) == ({"node-1": 2}, 2)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        pytest.param((named_node("node-2"),), ({"node-2": 1}, []), id="on one node"),
        pytest.param(ZONE_B, ({}, [1]), id="by label"),
        pytest.param((ANYTHING,), ({"node-1": 1}, []), id="everywhere"),
        pytest.param((named_node("gone"),), ({}, []), id="on a node that is gone"),
    ],
)
def test_an_allocated_claim_is_used_where_it_was_allocated(
    terms: tuple[Requirements, ...], expected: tuple[dict[str, int], list[int]]
) -> None:
    shape = _shared(allocated_terms=terms, reserved_for=("uid-other",))

    plan = plan_with(nodes=[a_node("node-1"), a_node("node-2")], shapes=[shape])

    assert (on_nodes(plan), on_new(plan)) == expected


def test_a_claim_that_only_moving_pods_have_is_allocated_anew() -> None:
    shape = _shared(allocated_terms=(named_node("going"),), reserved_for=("uid-a",))
    pools = [
        gpus_of(
            "going",
            1,
            holds=(DeviceHold(device="gpu-0", claim="default/c", reserved_for=("uid-a",)),),
        ),
        gpus_of("node-1", 1),
    ]
    nodes = [a_node(), a_node("going", leaving=True)]

    plan = plan_with(
        *pools, nodes=nodes, shapes=[shape], pods=[a_pod("a", node="going", started_ms=1)]
    )

    assert on_nodes(plan) == {"node-1": 1}
