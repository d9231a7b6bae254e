"""Plugin NodeAffinity: nodeSelector and required node affinity."""

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.plugin import PASSES, NodeTest, PodRefused
from libs.oracle.node_selectors import read_pod_node_selection, required_of
from libs.oracle.objects import KubeObject
from libs.oracle.pods import Pod

_REASON = ("node(s) didn't match Pod's node affinity/selector",)
_NOT_NAMED = ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)
_CONFLICT = PodRefused("pod affinity terms conflict")


def prepare(_cluster: Cluster, pod: Pod) -> NodeTest | None:
    """Refuse nodes that the selector or all of the terms leave out."""
    selects = read_pod_node_selection(pod.obj)
    if selects is None:
        return None

    def test(node: Node) -> tuple[str, ...]:
        return PASSES if selects(node.labels, node.name) else _REASON

    return test


def narrow(_cluster: Cluster, pod: Pod) -> NodeTest | PodRefused | None:
    """Leave only nodes named by `metadata.name`, if every term names some.

    kube-scheduler does so before it looks at any node, so this reason comes before all others.
    """
    named = named_nodes(pod)
    if named is None:
        return None
    if not named:
        return _CONFLICT

    def test(node: Node) -> tuple[str, ...]:
        return PASSES if node.name in named else _NOT_NAMED

    return test


def named_nodes(pod: Pod) -> set[str] | None:
    """Return the nodes that the pod's terms name, None if not every one of them names some."""
    terms = (required_of(pod.spec) or {}).get("nodeSelectorTerms") or ()
    named: set[str] = set()
    for term in terms:
        names = _named_by(term)
        if names is None:
            return None
        named |= names
    return named if terms else None


def _named_by(term: KubeObject) -> set[str] | None:
    """Return the node names that the term allows, None if it does not restrict names."""
    listed = [
        set(field.get("values") or ())
        for field in term.get("matchFields") or ()
        if field.get("key") == "metadata.name" and field.get("operator") == "In"
    ]
    return set.intersection(*listed) if listed else None
