"""Plugin PodTopologySpread: hard constraints on how evenly like pods are spread over domains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from libs.oracle.cluster import Cluster, Node
from libs.oracle.default_spread import default_selector
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.filters.taint_toleration import has_untolerated_taint
from libs.oracle.node_selectors import NodePredicate, read_pod_node_selection
from libs.oracle.objects import KubeObject
from libs.oracle.pods import Pod
from libs.oracle.selectors import LabelSelector, read_selector, with_label_keys
from libs.oracle.tallies import Question

_SKEWED = ("node(s) didn't match pod topology spread constraints",)
_NO_LABEL = ("node(s) didn't match pod topology spread constraints (missing required label)",)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadConstraint:
    """One constraint of the pod."""

    topology_key: str
    max_skew: int
    min_domains: int
    selector: LabelSelector | None
    honors_affinity: bool
    """Only nodes that the pod's node affinity allows are domains."""
    honors_taints: bool
    """Only nodes whose taints the pod tolerates are domains."""


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes whose domain would hold too many more like pods than the emptiest one."""
    constraints = read_constraints(cluster, pod, "DoNotSchedule")
    if not constraints:
        return None
    limits = []
    for constraint, counts in zip(
        constraints, count_domains(cluster, pod, constraints), strict=True
    ):
        lowest = min(counts.values()) if len(counts) >= constraint.min_domains else 0
        itself = constraint.selector is not None and constraint.selector.matches(pod.labels)
        limits.append((constraint.topology_key, counts, constraint.max_skew + lowest - itself))

    def test(node: Node) -> tuple[str, ...]:
        for key, counts, limit in limits:
            if key not in node.labels:
                return _NO_LABEL
            if counts.get(node.labels[key], 0) > limit:
                return _SKEWED
        return PASSES

    return test


def read_constraints(cluster: Cluster, pod: Pod, when_unsatisfiable: str) -> list[SpreadConstraint]:
    """Return the pod's constraints of one kind, `DoNotSchedule` or `ScheduleAnyway`.

    A pod without any has those of the scheduler's configuration.
    """
    own = pod.spec.get("topologySpreadConstraints")
    given = own or cluster.default_spread
    wanted = [one for one in given if _kind(one) == when_unsatisfiable]
    if own or not wanted:
        return [_read(one, pod, read_selector(one.get("labelSelector"))) for one in wanted]
    selector = default_selector(cluster, pod)
    return [_read(one, pod, selector) for one in wanted] if selector is not None else []


def count_domains(
    cluster: Cluster, pod: Pod, constraints: Sequence[SpreadConstraint]
) -> list[Mapping[str, int]]:
    """Count like pods per domain, for each constraint; empty domains count zero.

    A node is part of a domain only if it has the keys of all the constraints. Pods that end do not
    count, and an empty selector counts none at all.
    """
    keys = tuple(sorted({constraint.topology_key for constraint in constraints}))
    allowed = read_pod_node_selection(pod.obj)
    return [_count(cluster, pod, constraint, keys, allowed) for constraint in constraints]


def _count(
    cluster: Cluster,
    pod: Pod,
    constraint: SpreadConstraint,
    keys: tuple[str, ...],
    allowed: NodePredicate | None,
) -> Mapping[str, int]:
    selector = constraint.selector or LabelSelector(())
    asks_all = not (constraint.honors_taints or (constraint.honors_affinity and allowed))
    if asks_all and selector.requirements:
        question = Question(pod.namespace, selector, constraint.topology_key, keys)
        like = cluster.pods_matching(selector, (pod.namespace,))
        return cluster.tallies.count(question, cluster.nodes, like)
    counts: dict[str, int] = {}
    on_node = _like_pods(cluster, pod, constraint)
    for node in cluster.nodes.values():
        if all(key in node.labels for key in keys) and _is_domain(constraint, pod, node, allowed):
            domain = node.labels[constraint.topology_key]
            counts[domain] = counts.get(domain, 0) + on_node.get(node.name, 0)
    return counts


def _like_pods(cluster: Cluster, pod: Pod, constraint: SpreadConstraint) -> Mapping[str, int]:
    """Count, per node, the pods of the namespace that the selector matches."""
    counts: dict[str, int] = {}
    if constraint.selector is None or not constraint.selector.requirements:
        return counts
    for other in cluster.pods_matching(constraint.selector, (pod.namespace,)):
        if not other.is_terminating:
            counts[other.node_name] = counts.get(other.node_name, 0) + 1
    return counts


def _is_domain(
    constraint: SpreadConstraint, pod: Pod, node: Node, allowed: NodePredicate | None
) -> bool:
    honored = allowed if constraint.honors_affinity else None
    if honored is not None and not honored(node.labels, node.name):
        return False
    return not (constraint.honors_taints and has_untolerated_taint(pod, node))


def _kind(constraint: KubeObject) -> str:
    return constraint.get("whenUnsatisfiable") or "DoNotSchedule"


def _read(constraint: KubeObject, pod: Pod, selector: LabelSelector | None) -> SpreadConstraint:
    return SpreadConstraint(
        topology_key=constraint.get("topologyKey", ""),
        max_skew=int(constraint.get("maxSkew") or 1),
        min_domains=int(constraint.get("minDomains") or 1),
        selector=with_label_keys(
            selector,
            pod.labels,
            same=constraint.get("matchLabelKeys") or (),
        ),
        honors_affinity=(constraint.get("nodeAffinityPolicy") or "Honor") == "Honor",
        honors_taints=(constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor",
    )
