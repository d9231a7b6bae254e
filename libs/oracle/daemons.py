"""The pods that DaemonSets put on a node, before any other pod comes.

Apart from the filters because the DaemonSet controller, not kube-scheduler, decides which nodes a
daemon belongs on; kube-scheduler then only finds out whether it fits.

Source: the Kubernetes documentation of DaemonSets (taints and tolerations).
"""

from collections.abc import Iterable

from libs.domain.errors import InvalidRequest
from libs.oracle.cluster import Cluster, Node
from libs.oracle.devices.binding import allocation
from libs.oracle.filters import node_affinity, node_name, taint_toleration
from libs.oracle.filters.dynamic_resources import find_devices
from libs.oracle.objects import KubeObject, key_of, metadata_of, name_of, namespace_of, spec_of
from libs.oracle.pods import read_pod

_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_TOLERATED_ON_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def daemon_pods(cluster: Cluster, daemon_sets: Iterable[KubeObject], node: str) -> list[KubeObject]:
    """Return the unbound pods that the DaemonSets would make for a node of the cluster."""
    pods = [daemon_pod(daemon_set, node) for daemon_set in daemon_sets]
    return [pod for pod in pods if _belongs(cluster, pod, node)]


def arriving_daemons(
    cluster: Cluster, daemon_sets: Iterable[KubeObject], node: str
) -> list[KubeObject]:
    """Return those of the pods that get the devices which they claim on the node.

    The others wait there without taking room.
    """
    pods = daemon_pods(cluster, daemon_sets, node)
    return [pod for pod in pods if _gets_devices(cluster, pod, cluster.nodes[node])]


def bring_daemons(cluster: Cluster, daemon_sets: Iterable[KubeObject], node: str) -> None:
    """Put the pods that get their devices on a node that has just come, and hold these for them.

    Of the cluster's devices nothing is held: which of them daemons get on which node depends on the
    order in which nodes come.
    """
    for pod in arriving_daemons(cluster, daemon_sets, node):
        for claim in _allocated(cluster, pod, cluster.nodes[node]):
            cluster.put("ResourceClaim", claim)
        cluster.bind(pod, node)


def daemon_pod(daemon_set: KubeObject, node: str) -> KubeObject:
    """Return the DaemonSet's pod for the node, with the tolerations that its controller adds."""
    template = spec_of(daemon_set).get("template") or {}
    spec = spec_of(template)
    added = [*_TOLERATED, *([_TOLERATED_ON_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    tolerations = [
        *(spec.get("tolerations") or ()),
        *({"key": key, "operator": "Exists", "effect": effect} for key, effect in added),
    ]
    metadata = {
        **metadata_of(template),
        "name": f"{name_of(daemon_set)}-{node}",
        "namespace": namespace_of(daemon_set),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {**spec, "tolerations": tolerations},
    }


def _gets_devices(cluster: Cluster, pod: KubeObject, node: Node) -> bool:
    references = spec_of(pod).get("resourceClaims") or ()
    claims = [_claim(cluster, pod, one) for one in references]
    found = [one for one in claims if one is not None]
    if len(found) < len(claims):
        return False
    try:
        return find_devices(cluster, found, node) is not None
    except InvalidRequest:
        return False


def _allocated(cluster: Cluster, pod: KubeObject, node: Node) -> list[KubeObject]:
    """Return the claims that are made for a pod, allocated, if that is on its node alone."""
    references = spec_of(pod).get("resourceClaims") or ()
    made = (one for one in references if not one.get("resourceClaimName"))
    claims = [claim for one in made if (claim := _claim(cluster, pod, one)) is not None]
    search = find_devices(cluster, claims, node) if claims else None
    if search is None or any(
        one.device.place.get("nodeName") != node.name for one in search.chosen
    ):
        return []
    consumer = {"resource": "pods", "name": name_of(pod)}
    return [
        {**claim, "status": {"allocation": allocation(claim, own, node), "reservedFor": [consumer]}}
        for claim in claims
        if (own := [one for one in search.chosen if one.ask.claim == key_of(claim)])
    ]


def _claim(cluster: Cluster, pod: KubeObject, reference: KubeObject) -> KubeObject | None:
    """Return a claim of the pod as its controller will make it; None if it will not."""
    namespace = namespace_of(pod)
    if name := reference.get("resourceClaimName"):
        return cluster.resource_claims.get(f"{namespace}/{name}")
    template = cluster.resource_claim_templates.get(
        f"{namespace}/{reference.get('resourceClaimTemplateName')}"
    )
    if template is None:
        return None
    metadata = {"namespace": namespace, "name": f"{name_of(pod)}-{reference['name']}"}
    return {"metadata": metadata, "spec": spec_of(spec_of(template))}


def _belongs(cluster: Cluster, pod: KubeObject, node: str) -> bool:
    seen = read_pod(pod)
    tests = [
        filter_.prepare(cluster, seen) for filter_ in (node_name, node_affinity, taint_toleration)
    ]
    return not any(test is not None and test(cluster.nodes[node]) for test in tests)
