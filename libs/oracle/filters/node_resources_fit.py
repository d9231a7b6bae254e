"""Plugin NodeResourcesFit: what is requested must be left of the node's allocatable."""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import NodeTest
from libs.oracle.pods import Pod


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest:
    """Refuse nodes without room, naming every resource that lacks."""
    requests = tuple(pod.requests.items())

    def test(node: Node) -> tuple[str, ...]:
        reasons = []
        if len(node.pods) + 1 > node.allocatable["pods"]:
            reasons.append("Too many pods")
        for resource, amount in requests:
            if amount > node.allocatable.get(resource, 0) - node.requested[resource]:
                reasons.append(f"Insufficient {resource}")
        return tuple(reasons)

    return test
