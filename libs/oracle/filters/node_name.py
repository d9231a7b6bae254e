"""Plugin NodeName: a pod that names a node goes there only."""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.pods import Pod

_REASON = ("node(s) didn't match the requested node name",)


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse every node but the named one."""
    if not pod.node_name:
        return None

    def test(node: Node) -> tuple[str, ...]:
        return PASSES if node.name == pod.node_name else _REASON

    return test
