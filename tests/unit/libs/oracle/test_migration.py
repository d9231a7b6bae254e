"""Volumes that CSI drivers have taken over, as kube-scheduler 1.36.2 was seen to treat them."""

from typing import Any

import pytest

from libs.oracle.cluster import cluster_from_lists
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import Obj, claim, mounts, node, pod, volume

PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
OLD_REGION = "failure-domain.beta.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"
EBS: Obj = {"awsElasticBlockStore": {"volumeID": "aws://a/vol-1"}}
BOUND = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}


def _expression(key: str, *values: str) -> Obj:
    return {"key": key, "operator": "In", "values": list(values)}


def _disk(*expressions: Obj, labels: dict[str, str] | None = None, **source: Any) -> Obj:
    spec: Obj = {**(source or EBS)}
    if expressions:
        terms = [{"matchExpressions": list(expressions)}]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    made = volume("v", **spec)
    return {**made, "metadata": {**made["metadata"], "labels": labels or {}}}


def _feasible(disk: Obj, labels: dict[str, str], plugins: str) -> bool:
    csi = {"metadata": {"name": "n1", "annotations": {PLUGINS: plugins}}, "spec": {"drivers": []}}
    made = claim("c", volumeName="v")
    lists = {
        "nodes": [node("n1", labels=labels)],
        "pvcs": [{**made, "metadata": {**made["metadata"], **BOUND}}],
        "pvs": [disk],
        "csiNodes": [csi],
    }
    return bool(judge(cluster_from_lists(lists), pod("a", volumes=mounts("c"))).feasible)


@pytest.mark.parametrize(
    ("disk", "labels", "as_written", "as_migrated"),
    [
        pytest.param(
            _disk(_expression(ZONE, "a")), {ZONE: "a"}, True, False, id="no label of the driver"
        ),
        pytest.param(
            _disk(_expression(ZONE, "a")), {EBS_ZONE: "a"}, False, True, id="only the driver's"
        ),
        pytest.param(
            _disk(_expression(OLD_ZONE, "a"), _expression(OLD_REGION, "r")),
            {EBS_ZONE: "a", REGION: "r"},
            False,
            True,
            id="old names",
        ),
        pytest.param(
            _disk(labels={ZONE: "a__b"}),
            {ZONE: "b", EBS_ZONE: "b"},
            True,
            True,
            id="only the volume's own label says where it is",
        ),
        pytest.param(
            _disk(labels={ZONE: "a"}), {ZONE: "a"}, True, False, id="its own label, no driver's"
        ),
        pytest.param(_disk(), {}, True, True, id="a disk that says nothing"),
        pytest.param(
            _disk(_expression(ZONE, "a"), azureDisk={"diskURI": "/d"}),
            {ZONE: "a"},
            True,
            True,
            id="a kind that keeps the zone's label",
        ),
        pytest.param(
            _disk(_expression(ZONE, "a"), csi={"driver": "ebs.csi.aws.com", "volumeHandle": "h"}),
            {ZONE: "a"},
            True,
            True,
            id="a volume that is the driver's own",
        ),
    ],
)
def test_a_node_that_leaves_a_disk_to_its_driver_needs_the_drivers_label(
    disk: Obj, labels: dict[str, str], as_written: bool, as_migrated: bool
) -> None:
    assert _feasible(disk, labels, "kubernetes.io/gce-pd") is as_written
    plugins = "kubernetes.io/gce-pd,kubernetes.io/aws-ebs,kubernetes.io/azure-disk"
    assert _feasible(disk, labels, plugins) is as_migrated
