"""Plugin NodeResourcesFit: what is requested must be left of the node's allocatable."""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.devices.extended import classes_of_resources, is_delegated
from libs.oracle.filters.plugin import NodeTest
from libs.oracle.pods import Pod


def prepare(cluster: Cluster, pod: Pod) -> NodeTest:
    """Refuse nodes without room, naming every resource that lacks."""
    requests = tuple(pod.requests.items())
    # What a device class stands for is DynamicResources' matter where the node offers none itself.
    devices = classes_of_resources(cluster, pod.requests)

    def test(node: Node) -> tuple[str, ...]:
        reasons = []
        if len(node.pods) + 1 > node.allocatable["pods"]:
            reasons.append("Too many pods")
        for resource, amount in requests:
            if resource in devices and is_delegated(node, resource):
                continue
            if amount > node.allocatable.get(resource, 0) - node.requested[resource]:
                reasons.append(f"Insufficient {resource}")
        return tuple(reasons)

    return test
