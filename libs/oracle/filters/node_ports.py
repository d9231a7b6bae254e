"""Plugin NodePorts: one host port serves one pod, per protocol and address."""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.pods import HostPort, Pod

_REASON = ("node(s) didn't have free ports for the requested pod ports",)
_ANY_ADDRESS = "0.0.0.0"


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes on which a wanted port is taken."""
    if not pod.host_ports:
        return None

    def test(node: Node) -> tuple[str, ...]:
        taken = [port for port, pods in node.host_ports.items() if pods]
        collides = any(_collide(mine, theirs) for mine in pod.host_ports for theirs in taken)
        return _REASON if collides else PASSES

    return test


def _collide(mine: HostPort, theirs: HostPort) -> bool:
    return (
        mine.port == theirs.port
        and mine.protocol == theirs.protocol
        and (mine.ip == theirs.ip or _ANY_ADDRESS in (mine.ip, theirs.ip))
    )
