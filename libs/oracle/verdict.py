"""Judge a pending pod: which nodes pass every filter, and why the others do not.

This is the question that kube-scheduler answers for each pod, and the one everything else in this
package is built on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters import FILTERS
from libs.oracle.filters.plugin import NodeTest, PodRefused
from libs.oracle.filters.scheduling_gates import GATED
from libs.oracle.objects import KubeObject, key_of, priority_of
from libs.oracle.pods import Pod, read_pod

_NEIGHBOURS = "InterPodAffinity"

Tests = Sequence[tuple[str, NodeTest]]
"""(plugin, what it asks of each node), in the order of the plugins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why one node, or every node, is refused."""

    plugin: str
    """The first kube-scheduler plugin that refused, e.g. `NodeResourcesFit`."""
    reasons: tuple[str, ...]
    """In kube-scheduler's words; several only for several lacking resources or volumes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the filters say about one pod."""

    feasible: tuple[str, ...]
    """Names of the nodes that pass, sorted."""
    rejected: Mapping[str, Rejection]
    """The other nodes, by name."""
    pod_refused: Rejection | None = None
    """Set if the pod was refused before any node was looked at; then all nodes are rejected so."""

    @property
    def schedulable(self) -> bool:
        """Whether any node passes."""
        return bool(self.feasible)

    @property
    def gated(self) -> bool:
        """Whether the pod waits for its scheduling gates, not for a node."""
        return self.pod_refused is not None and self.pod_refused.plugin == "SchedulingGates"

    @property
    def reasons(self) -> dict[str, int]:
        """How many nodes were refused for each reason; none for a gated pod."""
        if self.gated:
            return {}
        return dict(Counter(reason for node in self.rejected.values() for reason in node.reasons))

    @property
    def message(self) -> str:
        """The first sentence of kube-scheduler's condition message; empty if schedulable."""
        if self.schedulable:
            return ""
        if self.gated:
            return GATED
        if not self.rejected:
            return "no nodes available to schedule pods"
        if self.pod_refused is not None:
            listed = ", ".join(self.pod_refused.reasons)
        else:
            listed = ", ".join(sorted(f"{n} {reason}" for reason, n in self.reasons.items()))
        return f"0/{len(self.rejected)} nodes are available: {listed}."


def judge(cluster: Cluster, pod: KubeObject) -> Verdict:
    """Run every filter on every node for a pod that is not bound.

    Raises:
        InvalidRequest: a quantity or a selector of the pod is malformed.

    Complexity: O(nodes) for most pods; spread and affinity also look at the pods they select.
    """
    tests = prepare(cluster, read_pod(pod))
    if isinstance(tests, Rejection):
        return refused_everywhere(cluster, tests)
    rejections = {
        name: rejection
        for name in cluster.nodes
        if (rejection := try_node(cluster, pod, tests, name)) is not None
    }
    feasible = sorted(cluster.nodes.keys() - rejections.keys())
    return Verdict(feasible=tuple(feasible), rejected=rejections)


def refused_everywhere(cluster: Cluster, rejection: Rejection) -> Verdict:
    """Return the verdict on a pod that was refused before any node was looked at."""
    rejected = dict.fromkeys(cluster.nodes, rejection)
    return Verdict(feasible=(), rejected=rejected, pod_refused=rejection)


def prepare(cluster: Cluster, pod: Pod) -> Tests | Rejection:
    """Let every filter look at the pod and the cluster once, for all nodes.

    Returns:
        The filters that have something to say, in their order, or why the pod can go nowhere.

    Raises:
        InvalidRequest: a quantity or a selector of the pod is malformed.
    """
    tests = []
    for plugin, filter_ in FILTERS:
        test = filter_(cluster, pod)
        if isinstance(test, PodRefused):
            return Rejection(plugin=plugin, reasons=(test.reason,))
        if test is not None:
            tests.append((plugin, test))
    return tests


def try_node(cluster: Cluster, pod: KubeObject, tests: Tests, node_name: str) -> Rejection | None:
    """Return why one node is refused, None if the pod may go there."""
    return _with_nominated(cluster, pod, tests, node_name) or first_refusal(
        tests, cluster.nodes[node_name]
    )


def first_refusal(tests: Tests, node: Node) -> Rejection | None:
    """Return what the first of the filters that refuses the node says, None if none does."""
    for plugin, test in tests:
        reasons = test(node)
        if reasons:
            return Rejection(plugin=plugin, reasons=reasons)
    return None


def judge_node(cluster: Cluster, pod: KubeObject, node_name: str) -> tuple[Rejection, ...]:
    """Return what every filter that refuses says about one node; empty if the pod may go there.

    Unlike `judge` it does not stop at the first filter.

    Raises:
        InvalidRequest: a quantity or a selector of the pod is malformed.
    """
    tests = prepare(cluster, read_pod(pod))
    if isinstance(tests, Rejection):
        return (tests,)
    node, ahead = cluster.nodes[node_name], nominated_ahead(cluster, pod, node_name)
    if ahead:
        with cluster.supposing(ahead, node_name):
            refused = _refusals(_prepare_again(cluster, read_pod(pod), tests), node)
        if refused:
            return refused
    return _refusals(tests, node)


def nominated_ahead(cluster: Cluster, pod: KubeObject, node_name: str) -> list[KubeObject]:
    """Return the pods for which a node is nominated and whose room a pod may not take there.

    Source: kube-scheduler's filters with nominated pods (1.36): those of its priority or a higher
    one. A node has to pass with them and without, as they may end up elsewhere.
    """
    there = cluster.nominated.get(node_name)
    if not there:
        return []
    own, least = key_of(pod), priority_of(pod)
    return [one for key, one in there.items() if key != own and priority_of(one) >= least]


def _with_nominated(
    cluster: Cluster, pod: KubeObject, before: Tests, node_name: str
) -> Rejection | None:
    """Return why a node is refused once the pods that go before have the room there."""
    ahead = nominated_ahead(cluster, pod, node_name)
    if not ahead:
        return None
    with cluster.supposing(ahead, node_name):
        tests = _prepare_again(cluster, read_pod(pod), before)
        if isinstance(tests, Rejection):
            return tests
        return first_refusal(tests, cluster.nodes[node_name])


def _prepare_again(cluster: Cluster, pod: Pod, before: Tests) -> Tests | Rejection:
    """Prepare the filters for a cluster with nominated pods in it.

    Where InterPodAffinity had nothing to look at before, it does not look at those either: their
    anti-affinity does not count then.
    """
    found = prepare(cluster, pod)
    looked = pod.affinity or pod.anti_affinity or any(name == _NEIGHBOURS for name, _ in before)
    if isinstance(found, Rejection) or looked:
        return found
    return [one for one in found if one[0] != _NEIGHBOURS]


def _refusals(tests: Tests | Rejection, node: Node) -> tuple[Rejection, ...]:
    if isinstance(tests, Rejection):
        return (tests,)
    return tuple(
        Rejection(plugin=plugin, reasons=reasons)
        for plugin, test in tests
        if (reasons := test(node))
    )
