from typing import Any

import pytest

from libs.domain.pod import ExclusiveDisk, SharedVolume, VolumeAttachCount
from libs.kube.convert.inline_disk import InlineDisk, disk_names, inline_disks
from libs.kube.convert.storage import Storage
from libs.kube.convert.volume import resolve
from tests.unit.libs.kube.manifests import pod

NOTHING = Storage(claims={}, volumes={}, classes={})
EBS = {"awsElasticBlockStore": {"volumeID": "aws://zone-a/vol-1", "readOnly": True}}
GCE = {"gcePersistentDisk": {"pdName": "pd", "readOnly": True}}
ISCSI = {"iscsi": {"iqn": "iqn.a", "targetPortal": "10.0.0.1", "lun": 0}}
RBD = {"rbd": {"monitors": ["m1", "m2"], "image": "i"}}


def _disks(*volumes: dict[str, Any]) -> tuple[InlineDisk, ...]:
    named = [{"name": f"v{number}", **one} for number, one in enumerate(volumes)]
    return inline_disks(pod(volumes=named).spec.volumes)


@pytest.mark.parametrize(
    ("volume", "attached", "exclusive"),
    [
        pytest.param(
            EBS,
            "ebs.csi.aws.com/vol-1",
            ExclusiveDisk(disk="awsElasticBlockStore/aws://zone-a/vol-1"),
            id="EBS is for one pod even if that only reads",
        ),
        pytest.param(
            GCE,
            "pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/UNSPECIFIED/disks/pd",
            ExclusiveDisk(disk="gcePersistentDisk/pd", read_only=True),
            id="GCE",
        ),
        pytest.param({"azureDisk": {"diskURI": "u"}}, "disk.csi.azure.com/u", None, id="Azure"),
        pytest.param(
            {"cinder": {"volumeID": "c"}}, "cinder.csi.openstack.org/c", None, id="Cinder"
        ),
        pytest.param(ISCSI, "", ExclusiveDisk(disk="iscsi/iqn.a"), id="iSCSI"),
    ],
)
def test_a_disk_is_attached_by_the_driver_of_its_kind_and_may_be_for_one_pod(
    volume: dict[str, Any], attached: str, exclusive: ExclusiveDisk | None
) -> None:
    (found,) = _disks(volume)

    assert (found.attached, found.exclusive) == (attached, exclusive)


def test_an_image_in_ceph_is_known_by_each_of_its_monitors() -> None:
    names = disk_names(_disks(RBD))

    assert names == {"rbd/m1/rbd/i", "rbd/m2/rbd/i"}


def test_other_volumes_are_no_disks() -> None:
    assert _disks({"emptyDir": {}}, {"csi": {"driver": "inline.example.com"}}) == ()


def test_what_nobody_else_names_is_counted_and_no_more() -> None:
    found = resolve("default", [], _disks(EBS, GCE, EBS), NOTHING).volumes

    assert found.attached == (
        VolumeAttachCount(driver="ebs.csi.aws.com", count=1),
        VolumeAttachCount(driver="pd.csi.storage.gke.io", count=1),
    )
    assert (found.shared, found.exclusive) == ((), ())


def test_what_others_name_too_is_shared_and_excludes_them() -> None:
    disks = _disks(GCE, ISCSI)

    found = resolve("default", [], disks, NOTHING, disk_names(disks)).volumes

    assert found.shared == (
        SharedVolume(
            claim="pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/UNSPECIFIED/disks/pd",
            driver="pd.csi.storage.gke.io",
        ),
    )
    assert found.exclusive == (
        ExclusiveDisk(disk="gcePersistentDisk/pd", read_only=True),
        ExclusiveDisk(disk="iscsi/iqn.a"),
    )
