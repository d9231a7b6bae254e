"""Disks that pods name themselves, without a claim.

Apart from claims because such a disk leads nowhere: its kind alone says whether it is attached by a
CSI driver, and whether a node has it for one pod only.

Source: kube-scheduler's VolumeRestrictions and NodeVolumeLimits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from libs.domain.pod import ExclusiveDisk
from libs.kube.convert.attached_disk import disk_of_source, is_managed
from libs.kube.objects.pod import Volume


@dataclass(frozen=True, slots=True, kw_only=True)
class InlineDisk:
    """A disk that a pod names."""

    driver: str = ""
    """CSI driver that has taken over its kind and attaches it; empty where none does."""
    attached: str = ""
    """`driver/volume`: what is attached once per node, however many pods use it."""
    exclusive: ExclusiveDisk | None = None
    problem: str = ""
    """Why no node can attach it; empty where one can."""


def inline_disks(volumes: Iterable[Volume]) -> tuple[InlineDisk, ...]:
    """Return the disks that a pod names, each once, in its order."""
    return tuple(dict.fromkeys(disk for volume in volumes for disk in _disks(volume)))


def disk_names(disks: Iterable[InlineDisk]) -> frozenset[str]:
    """Return the texts by which pods can be compared: who has one in common shares a disk."""
    named = set()
    for one in disks:
        named.add(one.attached)
        if one.exclusive is not None:
            named.add(one.exclusive.disk)
    return frozenset(named - {""})


def _disks(volume: Volume) -> Iterable[InlineDisk]:
    if (disk := disk_of_source(volume)) is not None:
        yield InlineDisk(driver=disk.driver, attached=disk.name, exclusive=_exclusive(volume))
    if (azure := volume.azure_disk) is not None and not is_managed(azure.kind):
        yield InlineDisk(
            problem=f"volume {volume.name!r} is an azureDisk of kind {azure.kind!r}, which its CSI "
            "driver has not taken over"
        )
    if (iscsi := volume.iscsi) is not None:
        yield InlineDisk(exclusive=_alone("iscsi", iscsi.iqn, read_only=iscsi.read_only))
    if (rbd := volume.rbd) is not None:
        # Two images are the same if the pods know any monitor in common.
        for monitor in rbd.monitors:
            name = f"{monitor}/{rbd.pool}/{rbd.image}"
            yield InlineDisk(exclusive=_alone("rbd", name, read_only=rbd.read_only))


def _exclusive(volume: Volume) -> ExclusiveDisk | None:
    if (ebs := volume.aws_elastic_block_store) is not None:
        # EBS attaches to one pod even for reading.
        return _alone("awsElasticBlockStore", ebs.volume_id)
    if (gce := volume.gce_persistent_disk) is not None:
        return _alone("gcePersistentDisk", gce.pd_name, read_only=gce.read_only)
    return None


def _alone(kind: str, name: str, *, read_only: bool = False) -> ExclusiveDisk:
    return ExclusiveDisk(disk=f"{kind}/{name}", read_only=read_only)
