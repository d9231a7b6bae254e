"""Plugin VolumeZone: zone and region labels of a bound volume must be the node's.

Volumes of ephemeral claims are not looked at.
"""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest, PodRefused
from libs.oracle.objects import KubeObject, labels_of, spec_of, storage_class_of
from libs.oracle.pods import Pod

_REASON = ("node(s) had no available volume zone",)

_STABLE = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_TOPOLOGY_LABELS = (*_STABLE, *_STABLE.values())
_SEPARATOR = "__"
"""Between the zones of a volume that lives in several."""


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | PodRefused | None:
    """Refuse nodes in another zone or region than the pod's volumes."""
    domains: list[tuple[str, frozenset[str]]] = []
    for claim in pod.claims:
        if claim.is_ephemeral:
            continue
        obj = cluster.claims.get(claim.key)
        if obj is None:
            return PodRefused(f'persistentvolumeclaim "{claim.name}" not found')
        volume_name = spec_of(obj).get("volumeName")
        if not volume_name:
            refused = _unbound(cluster, obj)
            if refused is not None:
                return refused
            continue
        if volume_name not in cluster.volumes:
            return PodRefused(f'persistentvolume "{volume_name}" not found')
        labels = labels_of(cluster.volumes[volume_name])
        domains += [
            (key, frozenset(values))
            for key in _TOPOLOGY_LABELS
            # A label that leaves a value empty is ignored.
            if all(values := labels.get(key, "").split(_SEPARATOR))
        ]
    return _within(domains) if domains else None


def _within(domains: list[tuple[str, frozenset[str]]]) -> NodeTest:
    def test(node: Node) -> tuple[str, ...]:
        # A node that says nothing about zones or regions is taken to reach every volume.
        if not any(key in node.labels for key in _TOPOLOGY_LABELS):
            return PASSES
        for key, values in domains:
            value = node.labels.get(key, node.labels.get(_STABLE.get(key, key)))
            if value not in values:
                return _REASON
        return PASSES

    return test


def _unbound(cluster: Cluster, claim: KubeObject) -> PodRefused | None:
    class_name = storage_class_of(claim)
    if not class_name:
        return PodRefused("PersistentVolumeClaim had no pv name and storageClass name")
    storage_class = cluster.storage_classes.get(class_name)
    if storage_class is None:
        return PodRefused(f'storageclass.storage.k8s.io "{class_name}" not found')
    if storage_class.get("volumeBindingMode") == "WaitForFirstConsumer":
        return None
    return PodRefused("PersistentVolume had no name")
