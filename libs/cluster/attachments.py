"""Volumes that are attached to a node though no pod of it uses them: they count all the same.

Apart from what pods attach because nobody asks for these: a VolumeAttachment goes some time after
its pod.

Source: kube-scheduler's NodeVolumeLimits (1.36), which counts attachments of CSI volumes that
exist, besides those of pods.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from libs.domain.node import Node
from libs.kube.convert.attached_disk import AttachedDisk
from libs.kube.convert.storage import Storage
from libs.kube.objects.storage import VolumeAttachment

LeftAttached = Mapping[str, Mapping[str, int]]
"""How many volumes, by node and driver."""
Used = Callable[[str, str], bool]
"""Tells whether a pod on a node uses a volume: a claim by `namespace/name`, a disk by its name."""


def left_attached(
    attachments: Iterable[VolumeAttachment], storage: Storage, used: Used
) -> LeftAttached:
    """Return how many volumes each node has attached that its pods do not use."""
    disks: dict[str, set[AttachedDisk]] = {}
    for one in attachments:
        volume = storage.volumes.get(("", one.spec.source.persistent_volume_name))
        if volume is None or volume.spec.csi is None or not one.spec.attacher:
            continue
        disk = AttachedDisk(one.spec.attacher, volume.spec.csi.volume_handle)
        disks.setdefault(one.spec.node_name, set()).add(disk)
    return {
        node: Counter(one.driver for one in found if not _is_used(node, one.name, storage, used))
        for node, found in disks.items()
    }


def with_less_to_attach(node: Node, left: Mapping[str, int]) -> Node:
    """Return the node as if it could attach so many volumes less, by driver."""
    limits = tuple(
        replace(one, count=max(one.count - left.get(one.driver, 0), 0))
        for one in node.volume_limits
    )
    return node if limits == node.volume_limits else replace(node, volume_limits=limits)


def _is_used(node: str, disk: str, storage: Storage, used: Used) -> bool:
    return any(used(node, one) for one in (disk, *storage.claims_of_disk.get(disk, ())))
