"""Plugin NodeDeclaredFeatures: the node's kubelet says that it can do what the pod needs.

Of what kubelets declare only two things matter to where a pod may run; the rest is about changes of
pods that run.
"""

from collections.abc import Iterator

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.objects import status_of
from libs.oracle.pods import Pod

_REASON = ("node(s) didn't match Pod's required features",)
_RESTARTS_ALL = "RestartAllContainers"
FEATURES = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport")
"""What a pod may need."""


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes that do not declare a feature that the pod needs."""
    required = frozenset(_required(pod))
    if not required:
        return None

    def test(node: Node) -> tuple[str, ...]:
        declared = status_of(node.obj).get("declaredFeatures") or ()
        return PASSES if required <= frozenset(declared) else _REASON

    return test


def _required(pod: Pod) -> Iterator[str]:
    containers = (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))
    if any(
        rule.get("action") == _RESTARTS_ALL
        for container in containers
        for rule in container.get("restartPolicyRules") or ()
    ):
        yield FEATURES[0]
    if pod.spec.get("hostNetwork") and pod.spec.get("hostUsers") is False:
        yield FEATURES[1]
