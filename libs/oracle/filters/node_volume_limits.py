"""Plugin NodeVolumeLimits: how many volumes of a CSI driver a node can attach."""

from collections import Counter
from typing import NamedTuple

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.migration import MIGRATIONS
from libs.oracle.objects import KubeObject, spec_of, storage_class_of
from libs.oracle.pods import Pod

_REASON = ("node(s) exceed max volume count",)

_EBS = "awsElasticBlockStore"
_DRIVERS = {one.plugin: one.driver for one in MIGRATIONS}


class Attachment(NamedTuple):
    """A volume of a driver; mounted by several pods of a node, it attaches once."""

    driver: str
    handle: str


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes whose driver limit the pod's new volumes would exceed."""
    wanted = _attachments(cluster, pod)
    if not wanted:
        return None

    def test(node: Node) -> tuple[str, ...]:
        limits = driver_limits(cluster.csi_nodes.get(node.name))
        if not limits:
            return PASSES
        attached = {
            attachment
            for other in node.pods.values()
            for attachment in _attachments(cluster, other)
        }
        present = Counter(attachment.driver for attachment in attached)
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
        return _of_source(spec_of(volume))
    # A volume that is yet to be provisioned counts under its class's driver.
    storage_class = cluster.storage_classes.get(storage_class_of(claim))
    if storage_class is None:
        return None
    provisioner = storage_class.get("provisioner") or ""
    return Attachment(_DRIVERS.get(provisioner, provisioner), f"claim/{key}")


def _of_source(source: KubeObject) -> Attachment | None:
    """Read a PersistentVolume's spec or a pod's inline volume."""
    if csi := source.get("csi"):
        # Inline CSI volumes live with their pod and are not attached: they have no handle.
        handle = csi.get("volumeHandle")
        return Attachment(csi.get("driver", ""), handle) if handle else None
    for one in MIGRATIONS:
        if disk := source.get(one.source):
            handle = str(disk.get(one.handle, ""))
            # Written as aws://zone/vol-1, it is vol-1.
            short = handle.rpartition("/")[2] if one.source == _EBS else handle
            return Attachment(one.driver, short)
    return None
