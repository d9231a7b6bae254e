"""Plugin NodeVolumeLimits: how many volumes of a CSI driver a node can attach."""

from collections import Counter
from typing import NamedTuple

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.migration import MIGRATIONS
from libs.oracle.objects import KubeObject, labels_of, spec_of, storage_class_of
from libs.oracle.pods import Pod

_REASON = ("node(s) exceed max volume count",)

_ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_DRIVERS = {one.plugin: one.driver for one in MIGRATIONS}


class Attachment(NamedTuple):
    """A volume of a driver; mounted by several pods of a node, it attaches once."""

    driver: str
    handle: str


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes whose driver limit the pod's new volumes would exceed."""
    wanted, problem = _attachments(cluster, pod), _not_taken_over(pod)
    if not (wanted or problem):
        return None

    def test(node: Node) -> tuple[str, ...]:
        if problem and node.name in cluster.csi_nodes:
            return problem
        limits = driver_limits(cluster.csi_nodes.get(node.name))
        if not limits:
            return PASSES
        attached = {
            attachment
            for other in node.pods.values()
            for attachment in _attachments(cluster, other)
        }
        # Of an attachment that no pod uses the volume counts, even for a pod that wants it again.
        there = attached | _attached(cluster, node)
        present = Counter(attachment.driver for attachment in there)
        added = Counter(attachment.driver for attachment in wanted - attached)
        exceeds = any(
            present[driver] + count > limits[driver]
            for driver, count in added.items()
            if driver in limits
        )
        return _REASON if exceeds else PASSES

    return test


def driver_limits(csi_node: KubeObject | None) -> dict[str, int]:
    """Return the attach limits that a CSINode states, by driver."""
    if csi_node is None:
        return {}
    return {
        driver["name"]: count
        for driver in spec_of(csi_node).get("drivers") or ()
        if (count := (driver.get("allocatable") or {}).get("count")) is not None
    }


def _attached(cluster: Cluster, node: Node) -> set[Attachment]:
    """Return what VolumeAttachments of CSI volumes that exist have attached to the node."""
    found = set()
    for one in cluster.attachments.get(node.name, {}).values():
        spec = spec_of(one)
        name = (spec.get("source") or {}).get("persistentVolumeName")
        csi = spec_of(cluster.volumes.get(name or "", {})).get("csi")
        if csi and spec.get("attacher"):
            found.add(Attachment(spec["attacher"], csi.get("volumeHandle", "")))
    return found


def _attachments(cluster: Cluster, pod: Pod) -> set[Attachment]:
    found = [_of_claim(cluster, claim.key) for claim in pod.claims]
    found += [_of_source(volume) for volume in pod.spec.get("volumes") or ()]
    return {attachment for attachment in found if attachment is not None}


def _of_claim(cluster: Cluster, key: str) -> Attachment | None:
    claim = cluster.claims.get(key)
    if claim is None:
        return None
    volume = cluster.volumes.get(spec_of(claim).get("volumeName") or "")
    if volume is not None:
        labels = labels_of(volume)
        zones = next((labels[key] for key in _ZONE_LABELS if labels.get(key)), "")
        return _of_source(spec_of(volume), zones)
    # A volume that is yet to be provisioned counts under its class's driver.
    storage_class = cluster.storage_classes.get(storage_class_of(claim))
    if storage_class is None:
        return None
    provisioner = storage_class.get("provisioner") or ""
    return Attachment(_DRIVERS.get(provisioner, provisioner), f"claim/{key}")


def _of_source(source: KubeObject, zones: str = "") -> Attachment | None:
    """Read a PersistentVolume's spec, with what its label says of zones, or an inline volume."""
    if csi := source.get("csi"):
        # Inline CSI volumes live with their pod and are not attached: they have no handle.
        handle = csi.get("volumeHandle")
        return Attachment(csi.get("driver", ""), handle) if handle else None
    for one in MIGRATIONS:
        if (disk := source.get(one.source)) and _is_taken_over(one.source, disk):
            handle = _handle(one.source, str(disk.get(one.handle, "")), zones)
            return Attachment(one.driver, handle)
    return None


def _handle(source: str, disk: str, zones: str) -> str:
    """Return the handle that the CSI driver knows a disk by."""
    if source == "awsElasticBlockStore":
        # Written as aws://zone/vol-1, it is vol-1.
        return disk.rsplit("/", maxsplit=1)[-1] if disk.startswith("aws://") else disk
    if source == "gcePersistentDisk":
        if "__" in zones:
            region = "-".join(zones.split("__", maxsplit=1)[0].split("-")[:-1])
            return f"projects/UNSPECIFIED/regions/{region}/disks/{disk}"
        return f"projects/UNSPECIFIED/zones/{zones or 'UNSPECIFIED'}/disks/{disk}"
    return disk


def _is_taken_over(source: str, disk: KubeObject) -> bool:
    """Tell whether a CSI driver has taken over the disk: of Azure's only managed ones."""
    return source != "azureDisk" or (disk.get("kind") or "Managed").lower() == "managed"


def _not_taken_over(pod: Pod) -> tuple[str, ...]:
    """Return why the plugin fails on an inline disk, as it does wherever there is a CSINode."""
    for volume in pod.spec.get("volumes") or ():
        disk = volume.get("azureDisk")
        if disk and not _is_taken_over("azureDisk", disk):
            return (f"kind({disk['kind']}) is not supported in csi migration",)
    return ()
