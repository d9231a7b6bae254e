"""Room for volumes that new nodes bring and that their drivers have not published yet.

Apart because kube-scheduler refuses a node until its driver has published; a plan is for the time
after that. Where capacity within the node's reach is published already, as for a zone, that counts.
"""

from collections.abc import Iterator

from libs.domain import labels as keys
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, labels_of, name_of, spec_of
from libs.oracle.selectors import read_selector

_ENOUGH = "1Ei"


def node_capacities(cluster: Cluster, node: KubeObject) -> Iterator[KubeObject]:
    """Yield the CSIStorageCapacities, of enough room, that drivers will publish for the node."""
    for name, storage_class in cluster.storage_classes.items():
        driver = cluster.csi_drivers.get(storage_class.get("provisioner") or "", {})
        if not spec_of(driver).get("storageCapacity") or _is_published(cluster, name, node):
            continue
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": f"{name}-{name_of(node)}", "namespace": "kube-system"},
            "storageClassName": name,
            "nodeTopology": {"matchLabels": {keys.HOSTNAME: name_of(node)}},
            "capacity": _ENOUGH,
        }


def _is_published(cluster: Cluster, class_name: str, node: KubeObject) -> bool:
    reaches = [
        read_selector(one.get("nodeTopology"))
        for one in cluster.storage_capacities.values()
        if one.get("storageClassName") == class_name
    ]
    return any(reach is not None and reach.matches(labels_of(node)) for reach in reaches)
