"""Where an unbound claim can get its volume: one that exists, or a new one.

Apart from the filter because binding (`volume_assume`) makes the same choice that it promised.

Source: kube-scheduler's VolumeBinding; the Kubernetes documentation of persistent volumes.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from libs.domain.quantity import parse
from libs.oracle.cluster import Cluster, Node
from libs.oracle.node_selectors import read_node_selector
from libs.oracle.objects import (
    KubeObject,
    key_of,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    status_of,
    storage_class_of,
)
from libs.oracle.selectors import read_selector

BOUND_ANNOTATION = "pv.kubernetes.io/bind-completed"
SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node"

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


def match_static(
    cluster: Cluster, claims: Iterable[KubeObject], node: Node
) -> dict[str, KubeObject]:
    """Match claims with existing volumes that the node reaches.

    Small claims choose first, each the smallest volume that will do (by name among equals). A
    claim that a volume is kept for takes that one or none.

    Returns:
        The volumes by claim key; claims without one are left out.
    """
    chosen: dict[str, KubeObject] = {}
    taken: set[str] = set()
    for claim in sorted(claims, key=requested):
        suitable = [
            volume
            for name, volume in cluster.volumes.items()
            if name not in taken and _fits(claim, volume)
        ]
        kept = [volume for volume in suitable if spec_of(volume).get("claimRef")]
        reached = [volume for volume in kept or suitable if _reaches(volume, node)]
        if reached:
            best = min(reached, key=lambda v: (_capacity(v), name_of(v)))
            chosen[key_of(claim)] = best
            taken.add(name_of(best))
    return chosen


def can_provision(cluster: Cluster, claim: KubeObject, node: Node) -> bool:
    """Tell whether the claim's class would make a volume that the node reaches."""
    storage_class = cluster.storage_classes.get(storage_class_of(claim))
    if storage_class is None or storage_class.get("provisioner") in (None, "", _NO_PROVISIONER):
        return False
    terms = storage_class.get("allowedTopologies") or ()
    return not terms or any(_topology_matches(term, node.labels) for term in terms)


def has_capacity(cluster: Cluster, claim: KubeObject, node: Node) -> bool:
    """Tell whether a new volume for the claim would find room where the node is.

    Only drivers that say so publish how much room there is (`CSIDriver.spec.storageCapacity`).
    """
    class_name = storage_class_of(claim)
    provisioner = cluster.storage_classes.get(class_name, {}).get("provisioner") or ""
    driver = cluster.csi_drivers.get(provisioner, {})
    if not spec_of(driver).get("storageCapacity") or not requested(claim):
        return True
    return any(
        capacity.get("storageClassName") == class_name
        and _largest_volume(capacity) >= requested(claim)
        and (reach := read_selector(capacity.get("nodeTopology"))) is not None
        and reach.matches(node.labels)
        for capacity in cluster.storage_capacities.values()
    )


def requested(claim: KubeObject) -> Fraction:
    """Return how much storage the claim asks for, in bytes."""
    requests = (spec_of(claim).get("resources") or {}).get("requests") or {}
    return parse(requests.get("storage", 0))


def _largest_volume(capacity: KubeObject) -> Fraction:
    most = capacity.get("maximumVolumeSize") or capacity.get("capacity")
    return parse(most) if most is not None else Fraction(-1)


def _fits(claim: KubeObject, volume: KubeObject) -> bool:
    """Tell whether the volume may serve the claim, wherever it is."""
    spec, wanted = spec_of(volume), spec_of(claim)
    if metadata_of(volume).get("deletionTimestamp") or _capacity(volume) < requested(claim):
        return False
    if storage_class_of(volume) != storage_class_of(claim):
        return False
    if (spec.get("volumeMode") or "Filesystem") != (wanted.get("volumeMode") or "Filesystem"):
        return False
    attributes = "volumeAttributesClassName"
    if (spec.get(attributes) or "") != (wanted.get(attributes) or ""):
        return False
    reserved = spec.get("claimRef")
    if reserved:
        return _is_reserved_for(reserved, claim)
    selector = wanted.get("selector")
    matcher = read_selector(selector) if selector else None
    return (
        status_of(volume).get("phase") == "Available"
        and (matcher is None or matcher.matches(labels_of(volume)))
        and set(wanted.get("accessModes") or ()) <= set(spec.get("accessModes") or ())
    )


def _is_reserved_for(reserved: KubeObject, claim: KubeObject) -> bool:
    uid = reserved.get("uid")
    return key_of({"metadata": reserved}) == key_of(claim) and (
        not uid or uid == metadata_of(claim).get("uid")
    )


def _reaches(volume: KubeObject, node: Node) -> bool:
    required = (spec_of(volume).get("nodeAffinity") or {}).get("required")
    return not required or read_node_selector(required)(node.labels, "")


def _topology_matches(term: KubeObject, labels: Mapping[str, str]) -> bool:
    expressions = term.get("matchLabelExpressions") or ()
    return bool(expressions) and all(
        labels.get(expression.get("key", "")) in (expression.get("values") or ())
        for expression in expressions
    )


def _capacity(volume: KubeObject) -> Fraction:
    return parse((spec_of(volume).get("capacity") or {}).get("storage", 0))
