"""Extended resources that a device class stands for, where no device plugin offers them."""

from typing import Any

import pytest

from libs.oracle.check import check
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.device_objects import a_cluster, a_device, a_slice
from tests.unit.libs.oracle.kube import Obj, node, pod

BOTH = ("n1", "n2")

PAIR = (
    a_device("a", attributes={"numa": {"int": 0}, "kind": {"string": "x"}}),
    a_device("b", attributes={"numa": {"int": 1}, "kind": {"string": "x"}}),
)

RESOURCE = "gpu.example.com/card"

NAMING = {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": RESOURCE}}


def _container(amount: int, resource: str = RESOURCE, **fields: Any) -> Obj:
    return {"name": f"c{amount}", "resources": {"requests": {resource: amount}}, **fields}


def _of_plugin(cards: int) -> Obj:
    return node("n1", allocatable={"pods": "10", RESOURCE: cards})


@pytest.mark.parametrize(
    ("spec", "feasible"),
    [
        pytest.param({"containers": [_container(2)]}, BOTH, id="as many as there are"),
        pytest.param({"containers": [_container(3)]}, (), id="more than there are"),
        pytest.param(
            {"containers": [_container(1), _container(2)]}, (), id="containers run at a time"
        ),
        pytest.param(
            {"containers": [_container(1)], "initContainers": [_container(2)]},
            BOTH,
            id="init containers run before",
        ),
        pytest.param(
            {"containers": [_container(1)], "initContainers": [_container(3)]},
            (),
            id="an init container wants more",
        ),
        pytest.param(
            {
                "containers": [_container(1)],
                "initContainers": [_container(2, restartPolicy="Always")],
            },
            (),
            id="sidecars stay",
        ),
        pytest.param(
            {"containers": [_container(2, "deviceclass.resource.kubernetes.io/gpu")]},
            BOTH,
            id="a class by its name",
        ),
        pytest.param(
            {"containers": [_container(1, "deviceclass.resource.kubernetes.io/odd")]},
            (),
            id="no such class",
        ),
    ],
)
def test_a_resource_may_stand_for_devices(spec: Obj, feasible: tuple[str, ...]) -> None:
    cluster = a_cluster(a_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    asking = pod("asking")

    assert judge(cluster, {**asking, "spec": spec}).feasible == feasible


@pytest.mark.parametrize(
    ("cards", "feasible"),
    [pytest.param(3, BOTH, id="enough"), pytest.param(1, ("n2",), id="too few")],
)
def test_what_a_device_plugin_offers_comes_first(cards: int, feasible: tuple[str, ...]) -> None:
    cluster = a_cluster(a_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    cluster.put("Node", _of_plugin(cards))

    assert (
        judge(cluster, {**pod("a"), "spec": {"containers": [_container(2)]}}).feasible == feasible
    )


def test_binding_makes_the_claim_of_such_a_resource() -> None:
    cluster = a_cluster(a_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    for name in ("a", "b"):
        cluster.put("Pod", {**pod(name), "spec": {"containers": [_container(1)]}})

    assert check(cluster, (), [("default/a", "n1"), ("default/b", "n2")]) == []
    cluster.put("Pod", {**pod("c"), "spec": {"containers": [_container(1)]}})
    placements = [("default/a", "n1"), ("default/b", "n2"), ("default/c", "n1")]
    (wrong,) = check(cluster, (), placements)
    assert (wrong.pod, wrong.rule) == ("default/c", "DynamicResources")


def test_of_two_classes_for_a_resource_the_newer_one_counts() -> None:
    nothing = {"selectors": [{"cel": {"expression": "false"}}], "extendedResourceName": RESOURCE}
    metadata = {"name": "new", "creationTimestamp": "2026-01-01T00:00:00Z"}
    cluster = a_cluster(a_slice(*PAIR))
    cluster.put("DeviceClass", NAMING)
    cluster.put("DeviceClass", {"metadata": metadata, "spec": nothing})

    assert judge(cluster, {**pod("a"), "spec": {"containers": [_container(1)]}}).feasible == ()
