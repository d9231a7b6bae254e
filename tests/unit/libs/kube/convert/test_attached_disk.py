from typing import Any

import pytest

from libs.kube.convert.attached_disk import disk_of_volume
from libs.kube.objects.decoding import from_document
from libs.kube.objects.storage import PersistentVolume
from tests.unit.libs.kube.manifests import metadata

GCE = {"gcePersistentDisk": {"pdName": "d"}}
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def _name(source: dict[str, Any], labels: dict[str, str]) -> str | None:
    document = {"metadata": metadata("pv", labels=labels), "spec": source}
    found = disk_of_volume(from_document(document, PersistentVolume))
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("source", "labels", "name"),
    [
        pytest.param({"csi": {"driver": "d", "volumeHandle": "h"}}, {}, "d/h", id="CSI"),
        pytest.param({"csi": {"driver": "d"}}, {}, "", id="CSI without a handle"),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://zone-a/vol-1"}},
            {},
            "ebs.csi.aws.com/vol-1",
            id="EBS with its zone",
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, "ebs.csi.aws.com/vol-1", id="EBS"
        ),
        pytest.param(
            GCE,
            {ZONE: "r-a"},
            "pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/r-a/disks/d",
            id="GCE of a zone",
        ),
        pytest.param(
            GCE,
            {ZONE: "r-b", OLD_ZONE: "r-a"},
            "pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/r-a/disks/d",
            id="GCE, the old label first",
        ),
        pytest.param(
            GCE,
            {ZONE: "r-a__r-b"},
            "pd.csi.storage.gke.io/projects/UNSPECIFIED/regions/r/disks/d",
            id="GCE of a region",
        ),
        pytest.param(
            GCE,
            {},
            "pd.csi.storage.gke.io/projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d",
            id="GCE of a zone that nobody says",
        ),
        pytest.param(
            {"azureDisk": {"diskURI": "u", "kind": "managed"}},
            {},
            "disk.csi.azure.com/u",
            id="Azure",
        ),
        pytest.param(
            {"azureDisk": {"diskURI": "u", "kind": "Shared"}}, {}, None, id="Azure, not managed"
        ),
        pytest.param(
            {"portworxVolume": {"volumeID": "p"}}, {}, "pxd.portworx.com/p", id="Portworx"
        ),
        pytest.param({"nfs": {"server": "s", "path": "/"}}, {}, None, id="no disk"),
    ],
)
def test_a_disk_has_the_name_that_its_driver_knows_it_by(
    source: dict[str, Any], labels: dict[str, str], name: str | None
) -> None:
    assert _name(source, labels) == name
