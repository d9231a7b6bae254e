"""Choose among feasible nodes about as kube-scheduler does by default.

Apart from the filters because a score only prefers: nothing here can make a plan wrong. Scores are
whole numbers from 0 to 100 per plugin, weighted and added. Left out is ImageLocality. Ties go to
the smallest name, where kube-scheduler draws lots.

Source: kube-scheduler's default plugins and weights (1.36).
"""

from collections.abc import Callable, Sequence

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.inter_pod_affinity import domain_of, means, meant_pods
from libs.oracle.filters.taint_toleration import tolerates
from libs.oracle.node_selectors import read_term
from libs.oracle.objects import KubeObject
from libs.oracle.pods import Pod, read_pod
from libs.oracle.spread_score import score_spread

Scores = Sequence[int]
"""One score for each of the nodes, in their order."""


def pick(cluster: Cluster, pod: KubeObject, feasible: Sequence[str]) -> str:
    """Return the name of the best of the feasible nodes, of which there must be one at least."""
    if len(feasible) == 1:
        return feasible[0]
    nodes = [cluster.nodes[name] for name in feasible]
    total = score(cluster, pod, nodes)
    return min(zip(total, nodes, strict=True), key=lambda pair: (-pair[0], pair[1].name))[1].name


def score(cluster: Cluster, pod: KubeObject, nodes: Sequence[Node]) -> list[int]:
    """Return the weighted sum of all plugins' scores for each of the nodes, in their order."""
    seen = read_pod(pod)
    totals = [0] * len(nodes)
    for weight, plugin in _PLUGINS:
        for index, points in enumerate(plugin(cluster, seen, nodes)):
            totals[index] += weight * points
    return totals


def _taint_toleration(_cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores:
    unwelcome = [
        sum(t.effect == "PreferNoSchedule" and not tolerates(pod, t) for t in node.taints)
        for node in nodes
    ]
    most = max(unwelcome)
    return [100 - 100 * count // most if most else 100 for count in unwelcome]


def _node_affinity(_cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores:
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity") or {}
    preferred = [
        (int(term.get("weight", 0)), read_term(term.get("preference") or {}))
        for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    ]
    sums = [
        sum(weight for weight, matches in preferred if matches(node.labels, node.name))
        for node in nodes
    ]
    most = max(sums)
    return [100 * points // most if most else 0 for points in sums]


def _inter_pod_affinity(cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores:
    points: dict[tuple[str, str], int] = {}
    drawn = [
        (weight, term, other)
        for weight, term in pod.preferences
        for other in meant_pods(cluster, term)
    ]
    drawing = [
        (weight, term, owner)
        for (weight, term), owners in cluster.attractions.items()
        if means(cluster, term, pod)
        for owner in owners.values()
    ]
    for weight, term, other in (*drawn, *drawing):
        for domain in domain_of(cluster, other, term):
            points[domain] = points.get(domain, 0) + weight
    sums = [
        sum(amount for (key, value), amount in points.items() if node.labels.get(key) == value)
        for node in nodes
    ]
    lowest, span = min(sums), max(sums) - min(sums)
    return [100 * (amount - lowest) // span if span else 0 for amount in sums]


def _least_allocated(_cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores:
    def free_share(node: Node, resource: str) -> int:
        allocatable = node.allocatable.get(resource, 0)
        asked = node.requested_for_scoring[resource] + pod.scoring_requests[resource]
        return 100 * (allocatable - asked) // allocatable if 0 < asked <= allocatable else 0

    return [(free_share(node, "cpu") + free_share(node, "memory")) // 2 for node in nodes]


def _balanced_allocation(_cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores:
    if not pod.requests.keys() & {"cpu", "memory"}:
        return [0] * len(nodes)

    def used_share(node: Node, resource: str) -> float:
        asked = node.requested[resource] + pod.requests.get(resource, 0)
        return min(1.0, asked / max(1, node.allocatable.get(resource, 0)))

    # Of two shares the standard deviation is half the distance.
    return [
        int(100 * (1 - abs(used_share(node, "cpu") - used_share(node, "memory")) / 2))
        for node in nodes
    ]


_PLUGINS: tuple[tuple[int, Callable[[Cluster, Pod, Sequence[Node]], Scores]], ...] = (
    (3, _taint_toleration),
    (2, _node_affinity),
    (2, score_spread),
    (2, _inter_pod_affinity),
    (1, _least_allocated),
    (1, _balanced_allocation),
)
