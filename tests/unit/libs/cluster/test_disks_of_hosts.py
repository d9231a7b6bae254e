"""Disks of hosts: counted as what their nodes can attach, so that pods do not share one."""

from typing import Any

import pytest

from libs.cluster.state import StateOptions
from libs.domain.pod import VolumeAttachCount
from libs.domain.snapshot import ClusterSnapshot
from tests.unit.libs.cluster.clusters import shape_of, snapshot_of
from tests.unit.libs.kube.manifests import Document, metadata

HOST = "kubernetes.io/hostname"
DRIVER = "kubernetes.io/no-provisioner/disks"


def _node(name: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata(name, labels={HOST: name}),
        "status": {"allocatable": {"cpu": "4", "pods": "10"}},
    }


def _class(provisioner: str = "kubernetes.io/no-provisioner") -> Document:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata("disks"),
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _disk(name: str, *hosts: str, **spec: Any) -> Document:
    expression = {"key": HOST, "operator": "In", "values": list(hosts)}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata(name),
        "spec": {
            "storageClassName": "disks",
            "capacity": {"storage": "5Gi"},
            "local": {"path": "/disk"},
            "nodeAffinity": {"required": required},
            **spec,
        },
        "status": {"phase": "Available"},
    }


def _claim(name: str = "data", **spec: Any) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata(name, "shop"),
        "spec": {"storageClassName": "disks", **spec},
    }


def _pod() -> Document:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata("db", "shop"),
        "spec": {"containers": [{"name": "main"}], "volumes": [volume]},
    }


def _snapshot(*documents: Document) -> ClusterSnapshot:
    options = StateOptions(offline=True)
    return snapshot_of(_node("n1"), _node("n2"), _pod(), *documents, options=options)


def _limits(snapshot: ClusterSnapshot) -> dict[str, int]:
    return {
        node.name: limit.count
        for node in snapshot.nodes.values()
        for limit in node.volume_limits
        if limit.driver == DRIVER
    }


def test_a_host_has_as_many_disks_as_are_free_there() -> None:
    disks = [_disk("a", "n1"), _disk("b", "n1"), _disk("c", "n2")]

    snapshot = _snapshot(_class(), _claim(), *disks)

    assert _limits(snapshot) == {"n1": 2, "n2": 1}
    wanted = shape_of(snapshot, "db").volume_attach_counts
    assert wanted == (VolumeAttachCount(driver=DRIVER, count=1),)


@pytest.mark.parametrize(
    ("owner", "claim", "count"),
    [
        pytest.param("data", {}, 2, id="kept for a claim that waits"),
        pytest.param("data", {"volumeName": "b"}, 1, id="taken"),
        pytest.param("gone", {}, 1, id="kept for a claim that is gone"),
    ],
)
def test_a_disk_with_an_owner_counts_while_that_waits(
    owner: str, claim: Document, count: int
) -> None:
    kept = _disk("b", "n1", claimRef={"namespace": "shop", "name": owner})

    assert _limits(_snapshot(_class(), _claim(**claim), _disk("a", "n1"), kept)) == {"n1": count}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param([_class("ebs.csi.aws.com")], id="a class that makes more"),
        pytest.param([_class(), _disk("wide", "n1", "n2")], id="a volume of several hosts"),
        pytest.param([_class(), _disk("all", nodeAffinity={})], id="a volume of all hosts"),
    ],
)
def test_where_hosts_have_no_number_nothing_is_counted(more: list[Document]) -> None:
    assert _limits(_snapshot(_claim(), _disk("a", "n1"), *more)) == {}
