"""Plugin VolumeRestrictions: disks and claims that one pod, or one node, has for itself."""

from collections.abc import Iterator

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest, PodRefused
from libs.oracle.objects import KubeObject, spec_of
from libs.oracle.pods import Pod

_DISK_TAKEN = ("node(s) had no available disk",)
_CLAIM_TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"
    " already in-use by another pod",
)
_DISK_KINDS = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | PodRefused | None:
    """Refuse nodes where an in-tree disk collides, and all while an exclusive claim is in use."""
    exclusive_is_taken = False
    for claim in pod.claims:
        if claim.is_ephemeral:
            continue
        obj = cluster.claims.get(claim.key)
        if obj is None:
            return PodRefused(f'persistentvolumeclaim "{claim.name}" not found')
        if "ReadWriteOncePod" in (spec_of(obj).get("accessModes") or ()):
            exclusive_is_taken |= cluster.claim_users[claim.key] > 0
    disks = tuple(_disks(pod))
    if not disks and not exclusive_is_taken:
        return None

    def test(node: Node) -> tuple[str, ...]:
        if disks and any(
            _collide(mine, theirs)
            for other in node.pods.values()
            for theirs in _disks(other)
            for mine in disks
        ):
            return _DISK_TAKEN
        return _CLAIM_TAKEN if exclusive_is_taken else PASSES

    return test


def _disks(pod: Pod) -> Iterator[tuple[str, KubeObject]]:
    for volume in pod.spec.get("volumes") or ():
        for kind in _DISK_KINDS:
            if volume.get(kind):
                yield kind, volume[kind]


def _collide(mine: tuple[str, KubeObject], theirs: tuple[str, KubeObject]) -> bool:
    (kind, disk), (other_kind, other) = mine, theirs
    if kind != other_kind or not _same_disk(kind, disk, other):
        return False
    both_read = bool(disk.get("readOnly") and other.get("readOnly"))
    # EBS attaches to one pod even for reading.
    return kind == "awsElasticBlockStore" or not both_read


def _same_disk(kind: str, disk: KubeObject, other: KubeObject) -> bool:
    match kind:
        case "gcePersistentDisk":
            return bool(disk.get("pdName") == other.get("pdName"))
        case "awsElasticBlockStore":
            return bool(disk.get("volumeID") == other.get("volumeID"))
        case "iscsi":
            return bool(disk.get("iqn") == other.get("iqn"))
        case _:
            return _rbd_image(disk) == _rbd_image(other) and bool(
                set(disk.get("monitors") or ()) & set(other.get("monitors") or ())
            )


def _rbd_image(disk: KubeObject) -> tuple[str, str]:
    return disk.get("pool") or "rbd", disk.get("image", "")
