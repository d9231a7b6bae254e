"""Resources that device classes stand for."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain.device import IMPLICIT_RESOURCE, DeviceClass
from libs.domain.plan import Plan
from libs.domain.reason import Rule
from libs.domain.resources import Resources
from libs.domain.solution import SolveOptions
from tests.support.builders import a_catalogue, a_node, a_shape, amounts, pods
from tests.unit.services.solver.core.asking import (
    left_over,
    on_new,
    on_nodes,
    plan_of,
    the_claim,
    the_rejection,
)
from tests.unit.services.solver.core.devices.planning import CATALOGUE, FEW, OPEN, gpus_of
from tests.unit.services.solver.core.devices.pools import CLASSES

RESOURCE = "example.com/gpu"
GPU = replace(CLASSES["gpu"], extended_resource=RESOURCE)


def _plan(
    resource: str = RESOURCE, count: int = 1, gates: SolveOptions = OPEN, **snapshot: Any
) -> Plan:
    shape = a_shape(extra=Resources({resource: count}))
    snapshot.setdefault("pods", pods(3))
    snapshot.setdefault("device_classes", [GPU])
    return plan_of(gates, shapes=[shape], **snapshot)


@pytest.mark.parametrize(
    "resource",
    [pytest.param(RESOURCE, id="explicit"), pytest.param(f"{IMPLICIT_RESOURCE}gpu", id="implicit")],
)
def test_a_resource_of_a_class_is_its_devices(resource: str) -> None:
    plan = _plan(resource, nodes=[a_node()], device_pools=[gpus_of("node-1", 2)], **FEW)

    assert (on_nodes(plan), left_over(plan)) == ({"node-1": 2}, 1)


def test_new_nodes_bring_the_devices_of_a_resource() -> None:
    plan = _plan(count=2, pods=pods(1), catalogues=[CATALOGUE])

    assert the_claim(plan).instance_types == ("two",)
    assert the_claim(plan).requests.get(RESOURCE) == 0


def test_where_nodes_offer_the_resource_itself_pods_go_to_those() -> None:
    room = amounts(cpu=4, memory="16Gi", pods=110).add(Resources({RESOURCE: 2}))
    nodes = [a_node("node-1", allocatable=room), a_node("node-2")]

    plan = _plan(nodes=nodes, device_pools=[gpus_of("node-2", 2)], **FEW)

    assert (on_nodes(plan), left_over(plan)) == ({"node-1": 2}, 1)


def test_a_resource_of_no_class_is_one_that_nobody_offers() -> None:
    classes = [DeviceClass(name="other", extended_resource="example.com/other")]

    plan = _plan(device_classes=classes, nodes=[a_node()], device_pools=[gpus_of("node-1", 2)])

    assert (on_nodes(plan), on_new(plan)) == ({}, [])
    assert the_rejection(plan).rule is Rule.RESOURCES


def test_with_the_gate_closed_a_resource_is_just_a_resource() -> None:
    given: dict[str, Any] = {"nodes": [a_node()], "device_pools": [gpus_of("node-1", 2)]}

    plan = _plan(gates=SolveOptions(), catalogues=[a_catalogue()], **given)

    assert (on_nodes(plan), left_over(plan)) == ({}, 3)
