"""What binding a pod does to its unbound claims: each gets a volume that its node reaches.

Apart from the filter, which only promises: the checker needs the result to judge the next pod that
shares a claim or competes for a volume, and a simulated volume controller needs it to write.
"""

from collections.abc import Sequence

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.volume_binding import is_bound, waits_for_consumer
from libs.oracle.objects import (
    KubeObject,
    annotations_of,
    key_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    storage_class_of,
)
from libs.oracle.pods import read_pod
from libs.oracle.volume_matching import BOUND_ANNOTATION, SELECTED_NODE_ANNOTATION, match_static

_ZONE = "topology.kubernetes.io/zone"


def bind_claims(cluster: Cluster, pod: KubeObject, node_name: str) -> list[tuple[str, KubeObject]]:
    """Return (kind, object) of the claims and volumes that change when the pod gets this node.

    Claims that wait for their first consumer take the existing volume that the filter found, else a
    new one. A new volume is reached where the class's driver says (its topology keys on the node's
    CSINode), or else in the node's zone. The cluster is not changed.
    """
    node = cluster.nodes[node_name]
    claims = [cluster.claims[c.key] for c in read_pod(pod).claims if c.key in cluster.claims]
    unbound = [c for c in claims if not is_bound(c) and waits_for_consumer(cluster, c)]
    # Once a node was selected for a claim, its volume is on the way.
    undecided = [c for c in unbound if SELECTED_NODE_ANNOTATION not in annotations_of(c)]
    existing = match_static(cluster, undecided, node)
    changed: list[tuple[str, KubeObject]] = []
    for claim in unbound:
        volume = existing.get(key_of(claim)) or _new_volume(cluster, claim, node)
        changed.append(("PersistentVolume", _reserved(volume, claim)))
        changed.append(("PersistentVolumeClaim", _bound(claim, name_of(volume))))
    return changed


def _new_volume(cluster: Cluster, claim: KubeObject, node: Node) -> KubeObject:
    spec = spec_of(claim)
    provisioner = cluster.storage_classes[storage_class_of(claim)].get("provisioner", "")
    name = f"pvc-{namespace_of(claim)}-{name_of(claim)}"
    keys = _topology_keys(cluster.csi_nodes.get(node.name), provisioner) or (_ZONE,)
    expressions = [
        {"key": key, "operator": "In", "values": [node.labels[key]]}
        for key in keys
        if key in node.labels
    ]
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": dict((spec.get("resources") or {}).get("requests") or {}),
            "accessModes": list(spec.get("accessModes") or ()),
            "storageClassName": storage_class_of(claim),
            "csi": {"driver": provisioner, "volumeHandle": name},
            **({"nodeAffinity": affinity} if expressions else {}),
        },
    }


def _topology_keys(csi_node: KubeObject | None, provisioner: str) -> Sequence[str]:
    for driver in spec_of(csi_node or {}).get("drivers") or ():
        if driver.get("name") == provisioner:
            return driver.get("topologyKeys") or ()
    return ()


def _reserved(volume: KubeObject, claim: KubeObject) -> KubeObject:
    reference = {"namespace": namespace_of(claim), "name": name_of(claim)}
    if uid := metadata_of(claim).get("uid"):
        reference["uid"] = uid
    spec = {**spec_of(volume), "claimRef": reference}
    return {**volume, "spec": spec, "status": {"phase": "Bound"}}


def _bound(claim: KubeObject, volume_name: str) -> KubeObject:
    annotations = {**annotations_of(claim), BOUND_ANNOTATION: "yes"}
    return {
        **claim,
        "metadata": {**metadata_of(claim), "annotations": annotations},
        "spec": {**spec_of(claim), "volumeName": volume_name},
        "status": {**(claim.get("status") or {}), "phase": "Bound"},
    }
