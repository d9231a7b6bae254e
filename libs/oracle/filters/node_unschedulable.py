"""Plugin NodeUnschedulable: cordoned nodes take only pods that tolerate their taint."""

from libs.oracle.cluster import Cluster, Node, Taint
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.filters.taint_toleration import tolerates
from libs.oracle.pods import Pod

_CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_REASON = ("node(s) were unschedulable",)


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes with `spec.unschedulable`, unless the pod tolerates the cordon's taint."""
    if tolerates(pod, _CORDON):
        return None

    def test(node: Node) -> tuple[str, ...]:
        return _REASON if node.is_unschedulable else PASSES

    return test
