"""Which disk a CSI driver attaches for a volume: once per node, however many names it has.

Apart because pods name disks themselves and through claims, and several volumes may be the same
disk: what is the same has to get the same name.

Source: kube-scheduler's NodeVolumeLimits (1.36), which counts handles, those of the old storage
kinds as their CSI drivers have them.
"""

from typing import NamedTuple

from libs.kube.convert.migration import (
    AZURE_DRIVER,
    CINDER_DRIVER,
    EBS_DRIVER,
    GCE_DRIVER,
    PORTWORX_DRIVER,
)
from libs.kube.objects.pod import Volume
from libs.kube.objects.storage import PersistentVolume, PersistentVolumeSpec

_OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
_ZONE = "topology.kubernetes.io/zone"
_SEVERAL = "__"
_UNKNOWN = "UNSPECIFIED"
_MANAGED = "managed"


class AttachedDisk(NamedTuple):
    """A disk of a CSI driver."""

    driver: str
    handle: str

    @property
    def name(self) -> str:
        """Return `driver/handle`; empty where no handle is known."""
        return f"{self.driver}/{self.handle}" if self.handle else ""


def disk_of_volume(volume: PersistentVolume) -> AttachedDisk | None:
    """Return the disk of a volume; None if no CSI driver attaches it."""
    spec, labels = volume.spec, volume.metadata.labels
    if spec.csi is not None:
        return AttachedDisk(spec.csi.driver, spec.csi.volume_handle)
    return disk_of_source(spec, labels.get(_OLD_ZONE) or labels.get(_ZONE, ""))


def disk_of_source(source: Volume | PersistentVolumeSpec, zones: str = "") -> AttachedDisk | None:
    """Return the disk of a kind that a CSI driver has taken over; None for other kinds.

    Args:
        source: what the volume is made of.
        zones: where it is, as its label says.
    """
    if (ebs := source.aws_elastic_block_store) is not None:
        return AttachedDisk(EBS_DRIVER, _ebs_handle(ebs.volume_id))
    if (gce := source.gce_persistent_disk) is not None:
        return AttachedDisk(GCE_DRIVER, _gce_handle(gce.pd_name, zones))
    if (azure := source.azure_disk) is not None:
        # The driver has not taken over disks that are files of a storage account.
        return AttachedDisk(AZURE_DRIVER, azure.disk_uri) if is_managed(azure.kind) else None
    if (cinder := source.cinder) is not None:
        return AttachedDisk(CINDER_DRIVER, cinder.volume_id)
    if (portworx := source.portworx_volume) is not None:
        return AttachedDisk(PORTWORX_DRIVER, portworx.volume_id)
    return None


def is_managed(kind: str) -> bool:
    """Tell whether a disk of Azure is of the kind that its CSI driver has taken over."""
    return kind.casefold() == _MANAGED


def _ebs_handle(volume_id: str) -> str:
    """Return the id alone, of which one form is `aws://zone/vol-1`."""
    return volume_id.rpartition("/")[2] if volume_id.startswith("aws://") else volume_id


def _gce_handle(name: str, label: str) -> str:
    zones = label.split(_SEVERAL)
    if len(zones) > 1:
        return f"projects/{_UNKNOWN}/regions/{zones[0].rpartition('-')[0]}/disks/{name}"
    return f"projects/{_UNKNOWN}/zones/{label or _UNKNOWN}/disks/{name}"
