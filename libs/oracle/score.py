"""Choose among feasible nodes about as kube-scheduler does by default.

Apart from the filters because a score only prefers: nothing here can make a plan wrong. Scores are
whole numbers from 0 to 100 per plugin, weighted and added. Left out is ImageLocality. Ties go to
the smallest name, where kube-scheduler draws lots.

What a plugin says of a node before nodes are compared is apart (`NodePoints`): for pods that are
alike it stays what it was while the node does.

Source: kube-scheduler's default plugins and weights (1.36).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.inter_pod_affinity import domain_of, means, meant_pods
from libs.oracle.filters.taint_toleration import tolerates
from libs.oracle.node_selectors import read_term
from libs.oracle.objects import KubeObject
from libs.oracle.pods import Pod, read_pod
from libs.oracle.spread_score import score_spread

Scores = Sequence[int]
"""One score for each of the nodes, in their order."""

_TAINTS, _AFFINITY, _SPREAD, _NEIGHBOURS = 3, 2, 2, 2
"""Weights of the plugins that compare nodes; the others count once."""


class NodePoints(NamedTuple):
    """What is said of one node without looking at others."""

    unwelcome: int
    """Taints with effect PreferNoSchedule that the pod does not tolerate."""
    preferred: int
    """Sum of the weights of the node affinity terms that match."""
    allocation: int
    """Scores of what would be free, and of how even it would be."""


def pick(cluster: Cluster, pod: KubeObject, feasible: Sequence[str]) -> str:
    """Return the name of the best of the feasible nodes, of which there must be one at least."""
    if len(feasible) == 1:
        return feasible[0]
    nodes = [cluster.nodes[name] for name in feasible]
    return best(nodes, score(cluster, pod, nodes))


def best(nodes: Sequence[Node], scores: Scores) -> str:
    """Return the name of the node with the highest score, of several the smallest."""
    highest = max(scores)
    return min(node.name for node, points in zip(nodes, scores, strict=True) if points == highest)


def score(cluster: Cluster, pod: KubeObject, nodes: Sequence[Node]) -> list[int]:
    """Return the weighted sum of all plugins' scores for each of the nodes, in their order."""
    seen = read_pod(pod)
    points_of = node_points(seen)
    return compare(cluster, seen, nodes, [points_of(node) for node in nodes])


def compare(
    cluster: Cluster, pod: Pod, nodes: Sequence[Node], points: Sequence[NodePoints]
) -> list[int]:
    """Return the score of each node, given what is said of it alone."""
    unwelcome, preferred, allocation = zip(*points, strict=True)
    totals = list(allocation)
    for weight, scores in (
        (_TAINTS, _fewest(unwelcome)),
        (_AFFINITY, _most(preferred)),
        (_SPREAD, score_spread(cluster, pod, nodes)),
        (_NEIGHBOURS, _inter_pod_affinity(cluster, pod, nodes)),
    ):
        if scores is not None:
            totals = [total + weight * one for total, one in zip(totals, scores, strict=True)]
    return totals


def node_points(pod: Pod) -> Callable[[Node], NodePoints]:
    """Return what tells of a node what is said of it alone; the node is read when it is asked."""
    affinity = (pod.spec.get("affinity") or {}).get("nodeAffinity") or {}
    preferred = [
        (int(term.get("weight", 0)), read_term(term.get("preference") or {}))
        for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    ]
    is_balanced = bool(pod.requests.keys() & {"cpu", "memory"})

    def points_of(node: Node) -> NodePoints:
        return NodePoints(
            unwelcome=sum(
                t.effect == "PreferNoSchedule" and not tolerates(pod, t) for t in node.taints
            ),
            preferred=sum(
                weight for weight, matches in preferred if matches(node.labels, node.name)
            ),
            allocation=_least_allocated(pod, node) + (_balance(pod, node) if is_balanced else 0),
        )

    return points_of


# Comparing nodes; None: the plugin says the same of all


def _fewest(counts: Sequence[int]) -> Scores | None:
    most = max(counts)
    return [100 - 100 * count // most for count in counts] if most else None


def _most(sums: Sequence[int]) -> Scores | None:
    most = max(sums)
    return [100 * points // most for points in sums] if most else None


def _inter_pod_affinity(cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> Scores | None:
    points = _drawn_to(cluster, pod)
    if not points:
        return None
    sums = [
        sum(
            amounts.get(node.labels[key], 0)
            for key, amounts in points.items()
            if key in node.labels
        )
        for node in nodes
    ]
    lowest, span = min(sums), max(sums) - min(sums)
    return [100 * (amount - lowest) // span for amount in sums] if span else None


def _drawn_to(cluster: Cluster, pod: Pod) -> Mapping[str, Mapping[str, int]]:
    """Return how much the pod is drawn to domains, by topology key and value."""
    points: dict[str, dict[str, int]] = {}
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
        for key, value in domain_of(cluster, other, term):
            amounts = points.setdefault(key, {})
            amounts[value] = amounts.get(value, 0) + weight
    return points


# One node


def _least_allocated(pod: Pod, node: Node) -> int:
    def free_share(resource: str) -> int:
        allocatable = node.allocatable.get(resource, 0)
        asked = node.requested_for_scoring[resource] + pod.scoring_requests[resource]
        return 100 * (allocatable - asked) // allocatable if 0 < asked <= allocatable else 0

    return (free_share("cpu") + free_share("memory")) // 2


def _balance(pod: Pod, node: Node) -> int:
    def used_share(resource: str) -> float:
        asked = node.requested[resource] + pod.requests.get(resource, 0)
        return min(1.0, asked / max(1, node.allocatable.get(resource, 0)))

    # Of two shares the standard deviation is half the distance.
    return int(100 * (1 - abs(used_share("cpu") - used_share("memory")) / 2))
