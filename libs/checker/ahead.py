"""The cluster as a plan will find it: what is under way is done.

Apart because kube-scheduler judges what stands in the API at the moment, and a plan is for a moment
later: nodes that are starting have started and published their devices and storage, pods of a node
that is going wait for a new one, claims without a storage class have got the default class, volumes
of which nobody has said a phase are available, claims of devices have been made from their
templates, and nominations that nothing makes come true are given up.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.checker.devices import made_claims, released_claims, starting_slices
from libs.checker.nodes import started_node
from libs.checker.storage import node_capacities
from libs.domain.snapshot import ClusterSnapshot
from libs.oracle.cluster import Cluster
from libs.oracle.nominations import without_hope, without_nomination
from libs.oracle.objects import KubeObject, key_of, metadata_of, name_of, spec_of, status_of

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def ahead(
    cluster: Cluster,
    snapshot: ClusterSnapshot,
    placed: Iterable[str],
    coming: Iterable[tuple[str, KubeObject]] = (),
) -> Cluster:
    """Return the cluster as the plan will find it; the one given is not changed.

    Args:
        cluster: the Kubernetes objects.
        snapshot: the same cluster, where nodes are joined with their claims.
        placed: `namespace/name` of the pods that the plan gives a place.
        coming: kind and object of what comes with the plan's new nodes.
    """
    leaving = {node.name for node in snapshot.nodes.values() if node.leaving}
    found = (cluster.pods.get(key) for key in sorted(placed))
    moving = [pod for pod in found if pod is not None and pod.node_name in leaving]
    starting = [started_node(one) for one in snapshot.nodes.values() if not one.initialized]
    changes: list[tuple[str, KubeObject]] = [("Node", node) for node in starting]
    changes += [
        ("CSIStorageCapacity", one) for node in starting for one in node_capacities(cluster, node)
    ]
    changes += [("CSINode", one) for one in _not_yet_migrated(cluster, starting)]
    changes += [("PersistentVolumeClaim", claim) for claim in _classified(cluster)]
    changes += [("PersistentVolume", volume) for volume in _available(cluster)]
    changes += [("ResourceSlice", one) for one in starting_slices(cluster, snapshot)]
    changes += coming
    claiming = any(spec_of(pod).get("resourceClaims") for pod in cluster.pending.values())
    if not (changes or moving or claiming or cluster.nominated):
        return cluster
    later = cluster.copy()
    for pod in moving:
        later.delete("Pod", pod.key)
    changes += [("Pod", _successor(pod.obj)) for pod in moving]
    gone = {str(metadata_of(pod.obj).get("uid")) for pod in moving}
    changes += [("ResourceClaim", claim) for claim in released_claims(cluster, gone)]
    for kind, obj in changes:
        later.put(kind, obj)
    for kind, obj in tuple(made_claims(later)):
        later.put(kind, obj)
    # A pod that lacks something else keeps its room until kube-scheduler looks at it again.
    waiting = {row.key for row in snapshot.pods.rows() if row.provisionable and row.nominated}
    for hopeless in [one for one in without_hope(later) if key_of(one) in waiting]:
        later.put("Pod", without_nomination(hopeless))
    return later


def _not_yet_migrated(cluster: Cluster, starting: Iterable[KubeObject]) -> Iterator[dict[str, Any]]:
    """Yield the CSINodes of starting nodes without what their kubelets leave to CSI drivers.

    A node says so before the driver has put its topology label on it.
    """
    for node in starting:
        found = cluster.csi_nodes.get(name_of(node))
        if found is not None and metadata_of(found).get("annotations"):
            yield {**found, "metadata": {**metadata_of(found), "annotations": {}}}


def _available(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the volumes that have just been written, as their controller will leave them."""
    for volume in cluster.volumes.values():
        if not status_of(volume).get("phase") and not spec_of(volume).get("claimRef"):
            yield {**volume, "status": {**status_of(volume), "phase": "Available"}}


def _classified(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield the claims that get the default class, of several the newest."""
    defaults = [
        one
        for one in cluster.storage_classes.values()
        if (metadata_of(one).get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    ]
    if not defaults:
        return
    defaults.sort(key=key_of)
    newest = max(defaults, key=lambda one: metadata_of(one).get("creationTimestamp") or "")
    for claim in cluster.claims.values():
        spec = spec_of(claim)
        if spec.get("storageClassName") is None and not spec.get("volumeName"):
            name = metadata_of(newest)["name"]
            yield {**claim, "spec": {**spec, "storageClassName": name}}


def _successor(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod that waits when this one is gone."""
    metadata = {key: value for key, value in pod["metadata"].items() if key != "deletionTimestamp"}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return {**pod, "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
