"""Nodes of a test's own: ready, and closed to everybody else's pods."""

from collections.abc import Callable, Mapping, Sequence

from tests.conformance.cluster import STRATEGIC_PATCH, Cluster
from tests.conformance.objects import Object, metadata

NODES = "/api/v1/nodes"
OURS = "conformance.example.com/test"
TOLERATED = {"key": OURS, "operator": "Exists"}
SIZE = {"cpu": "4", "memory": "8Gi", "pods": "10"}


def a_ready_node(
    cluster: Cluster,
    create: Callable[[str, Object], Object],
    name: str,
    labels: Mapping[str, str],
    taints: Sequence[Object] = (),
) -> None:
    """Create a node of 4 CPUs and 8 GiB that says it is ready; wait until it is taken for ready.

    Without a kubelet it stays so for half a minute.
    """
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata(name, labels=dict(labels)),
        "spec": {"taints": [{"key": OURS, "effect": "NoSchedule"}, *taints]},
        "status": {"capacity": SIZE, "allocatable": SIZE},
    }
    create(NODES, body)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
    status = {"conditions": [ready], "capacity": SIZE, "allocatable": SIZE}
    cluster.patch(f"{NODES}/{name}/status", {"status": status}, STRATEGIC_PATCH).ok()
    cluster.until(f"{NODES}/{name}", _has_no_state_taint)


def _has_no_state_taint(node: Object) -> bool:
    taints = node["spec"].get("taints") or []
    return not any(taint["key"].startswith("node.kubernetes.io/") for taint in taints)
