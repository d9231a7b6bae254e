"""Plugin InterPodAffinity: required pod affinity and anti-affinity, from both sides."""

from collections.abc import Iterable, Iterator, Sequence

from libs.oracle.affinity_terms import AffinityTerm
from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest
from libs.oracle.pods import Pod

Domains = dict[str, set[str]]
"""Values by topology key."""

_AFFINITY = ("node(s) didn't match pod affinity rules",)
_ANTI_AFFINITY = ("node(s) didn't match pod anti-affinity rules",)
_EXISTING = ("node(s) didn't satisfy existing pods anti-affinity rules",)


def prepare(cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse domains without the pods that it wants, with those it shuns, or that shun it."""
    affinity = pod.affinity
    wanted = _wanted_domains(cluster, affinity)
    # The first of a group that wants itself near may go anywhere, or none of it ever could.
    is_first = not wanted and all(means(cluster, term, pod) for term in affinity)
    shunned = _shunned_domains(cluster, pod)
    shunning = _shunning_domains(cluster, pod)
    if not affinity and not shunned and not shunning:
        return None

    def test(node: Node) -> tuple[str, ...]:
        for term in affinity:
            value = node.labels.get(term.topology_key)
            if value is None or not (is_first or value in wanted.get(term.topology_key, ())):
                return _AFFINITY
        if _lies_in(node, shunned):
            return _ANTI_AFFINITY
        return _EXISTING if _lies_in(node, shunning) else PASSES

    return test


def meant_pods(cluster: Cluster, term: AffinityTerm) -> Iterator[Pod]:
    """Yield the bound pods that the term means."""
    namespaces = term.namespaces if term.namespace_selector is None else None
    for other in cluster.pods_matching(term.selector, namespaces):
        if means(cluster, term, other):
            yield other


def means(cluster: Cluster, term: AffinityTerm, pod: Pod) -> bool:
    """Tell whether the term means the pod."""
    return term.matches(pod.namespace, pod.labels, cluster.namespace_labels(pod.namespace))


def domain_of(cluster: Cluster, pod: Pod, term: AffinityTerm) -> Iterator[tuple[str, str]]:
    """Yield the term's domain that the bound pod is in: one, or none without the node's label."""
    node = cluster.nodes.get(pod.node_name)
    if node is not None and term.topology_key in node.labels:
        yield term.topology_key, node.labels[term.topology_key]


def _wanted_domains(cluster: Cluster, terms: Sequence[AffinityTerm]) -> Domains:
    """Return the domains of the pods that *all* terms mean."""
    if not terms:
        return {}
    return _by_key(
        domain
        for other in meant_pods(cluster, terms[0])
        if all(means(cluster, term, other) for term in terms[1:])
        for term in terms
        for domain in domain_of(cluster, other, term)
    )


def _shunned_domains(cluster: Cluster, pod: Pod) -> Domains:
    return _by_key(
        domain
        for term in pod.anti_affinity
        for other in meant_pods(cluster, term)
        for domain in domain_of(cluster, other, term)
    )


def _shunning_domains(cluster: Cluster, pod: Pod) -> Domains:
    return _by_key(
        domain
        for term, owners in cluster.anti_affinity.items()
        if means(cluster, term, pod)
        for owner in owners.values()
        for domain in domain_of(cluster, owner, term)
    )


def _by_key(domains: Iterable[tuple[str, str]]) -> Domains:
    grouped: Domains = {}
    for key, value in domains:
        grouped.setdefault(key, set()).add(value)
    return grouped


def _lies_in(node: Node, domains: Domains) -> bool:
    return any(node.labels.get(key) in values for key, values in domains.items())
