"""Which devices daemons hold of a node that has just come."""

from typing import Any

import pytest

from libs.oracle.check import check
from libs.oracle.cluster import Cluster
from libs.oracle.daemons import bring_daemons
from tests.unit.libs.oracle.device_objects import (
    GPU,
    a_claim,
    a_device,
    a_slice,
    asking_for,
    exactly,
)
from tests.unit.libs.oracle.kube import node, pod

TEMPLATE = {
    "metadata": {"name": "one", "namespace": "default"},
    "spec": {"spec": a_claim(exactly())["spec"]},
}
DAEMONS = {
    "metadata": {"name": "agent", "namespace": "default"},
    "spec": {
        "template": pod(
            "ignored",
            requests={},
            resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}],
        )
    },
}


def _cluster(*devices: str, **place: Any) -> Cluster:
    cluster = Cluster()
    cluster.put("DeviceClass", GPU)
    cluster.put("ResourceClaimTemplate", TEMPLATE)
    cluster.put("ResourceSlice", a_slice(*map(a_device, devices), **place))
    cluster.put("ResourceClaim", a_claim(exactly()))
    cluster.put("Pod", asking_for())
    return cluster


@pytest.mark.parametrize(
    ("devices", "place", "refused"),
    [
        pytest.param(["d1"], {"nodeName": "new"}, ["DynamicResources"], id="the only one"),
        pytest.param(["d1", "d2"], {"nodeName": "new"}, [], id="one of two"),
        pytest.param(["d1"], {}, [], id="one that other nodes reach, too"),
    ],
)
def test_a_daemon_holds_devices_of_its_new_node_before_pods_come(
    devices: list[str], place: dict[str, Any], refused: list[str]
) -> None:
    cluster = _cluster(*devices, **place)

    found = check(cluster, [node("new")], [("default/asking", "new")], daemon_sets=[DAEMONS])

    assert [one.rule for one in found] == refused


def test_a_daemon_that_gets_no_devices_holds_none() -> None:
    cluster = _cluster("d1", nodeName="other")
    cluster.put("Node", node("new"))

    bring_daemons(cluster, [DAEMONS], "new")

    assert list(cluster.resource_claims) == ["default/mine"]
    assert list(cluster.pods) == []
