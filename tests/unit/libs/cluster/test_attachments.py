"""What is attached and not used: a node can attach so many volumes less."""

from typing import Any

import pytest

from libs.cluster.attachments import left_attached, with_less_to_attach
from libs.domain.pod import VolumeAttachCount
from libs.kube.convert.storage import Storage
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from tests.support.builders import a_node
from tests.unit.libs.kube.manifests import metadata


def _attachment(volume: str = "v1", node: str = "n1", **spec: Any) -> VolumeAttachment:
    given = {"attacher": "disks", "nodeName": node, "source": {"persistentVolumeName": volume}}
    return from_document({"metadata": metadata("csi"), "spec": {**given, **spec}}, VolumeAttachment)


def _volume(name: str, source: dict[str, Any] | None = None) -> PersistentVolume:
    spec = source or {"csi": {"driver": "disks", "volumeHandle": name}}
    return from_document({"metadata": metadata(name), "spec": spec}, PersistentVolume)


def _storage() -> Storage:
    claim = {"metadata": metadata("data", "shop"), "spec": {"volumeName": "v1"}}
    hosted = _volume("old", {"awsElasticBlockStore": {"volumeID": "vol-1"}})
    return Storage(
        claims={("shop", "data"): from_document(claim, PersistentVolumeClaim)},
        volumes={("", "v1"): _volume("v1"), ("", "v2"): _volume("v2"), ("", "old"): hosted},
        classes={},
    )


@pytest.mark.parametrize(
    ("attachments", "used", "left"),
    [
        pytest.param([_attachment()], set(), 1, id="nobody uses it"),
        pytest.param([_attachment()], {("n1", "shop/data")}, 0, id="a pod's claim has it"),
        pytest.param([_attachment()], {("n1", "disks/v1")}, 0, id="a pod names it"),
        pytest.param([_attachment()], {("n2", "shop/data")}, 1, id="a pod elsewhere uses it"),
        pytest.param([_attachment(), _attachment("v2")], set(), 2, id="two volumes"),
        pytest.param([_attachment(), _attachment()], set(), 1, id="one volume twice"),
        pytest.param([_attachment("gone")], set(), 0, id="its volume is gone"),
        pytest.param([_attachment("old")], set(), 0, id="no CSI volume"),
        pytest.param([_attachment(attacher="")], set(), 0, id="nobody attached it"),
        pytest.param([_attachment(source={})], set(), 0, id="a volume without a name"),
    ],
)
def test_attachments_count_that_no_pod_of_the_node_uses(
    attachments: list[VolumeAttachment], used: set[tuple[str, str]], left: int
) -> None:
    found = left_attached(attachments, _storage(), lambda *one: one in used)

    assert found.get("n1", {}).get("disks", 0) == left


@pytest.mark.parametrize(("left", "most"), [(0, 2), (1, 1), (3, 0)])
def test_a_node_can_attach_so_many_less(left: int, most: int) -> None:
    limits = (VolumeAttachCount(driver="disks", count=2), VolumeAttachCount(driver="x", count=5))

    node = with_less_to_attach(a_node(volume_limits=limits), {"disks": left})

    assert [one.count for one in node.volume_limits] == [most, 5]
