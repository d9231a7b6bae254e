"""`check_state`: could kube-scheduler have put every pod where it runs?

The bound pods are taken off their nodes and placed again, in the order in which they were bound,
each judged against those that are back already. This is for a quiet cluster: what changed after a
pod was bound (a taint, a smaller node, a sibling that went away and left its zones uneven) counts
against it, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.domain import labels as keys
from libs.oracle.check import Placement, Violation, check
from libs.oracle.cluster import Cluster
from libs.oracle.objects import KubeObject, key_of, labels_of, name_of, spec_of, status_of
from libs.oracle.pods import is_finished

NODE_CLAIM = "NodeClaim"


def check_state(objects: Iterable[tuple[str, KubeObject]]) -> list[Violation]:
    """Return every rule that the state breaks; empty if it is right.

    Besides kube-scheduler's rules: each NodeClaim has its node, each node of a NodePool its claim.

    Args:
        objects: kind and object of all nodes, pods, namespaces, PersistentVolumeClaims,
            PersistentVolumes, StorageClasses, CSINodes and NodeClaims; other kinds are ignored.

    Raises:
        InvalidRequest: a quantity or a selector in an object is malformed.
    """
    cluster = Cluster()
    bound: list[KubeObject] = []
    claims: list[KubeObject] = []
    for kind, obj in objects:
        if kind == "Pod" and spec_of(obj).get("nodeName") and not is_finished(obj):
            bound.append(obj)
            cluster.put(kind, _unbound(obj))
        elif kind == NODE_CLAIM:
            claims.append(obj)
        else:
            cluster.put(kind, obj)
    bound.sort(key=_bound_at)
    placements = [_placement(pod) for pod in bound]
    return [*check(cluster, (), placements), *_unmatched(cluster, claims)]


def _unbound(pod: KubeObject) -> dict[str, Any]:
    spec = {name: value for name, value in spec_of(pod).items() if name != "nodeName"}
    return {**pod, "spec": spec}


def _placement(pod: KubeObject) -> Placement:
    return key_of(pod), spec_of(pod)["nodeName"]


def _bound_at(pod: KubeObject) -> tuple[str, str]:
    """Return the instant at which the pod was bound, as text, and its name."""
    conditions: Iterable[Mapping[str, Any]] = status_of(pod).get("conditions") or ()
    times = (one.get("lastTransitionTime") for one in conditions if one["type"] == "PodScheduled")
    return next(times, None) or "", key_of(pod)


def _unmatched(cluster: Cluster, claims: Iterable[KubeObject]) -> Iterator[Violation]:
    """Yield claims without a node, nodes without a claim, and nodes that two claims name."""
    named: set[str] = set()
    for claim in claims:
        node = status_of(claim).get("nodeName") or ""
        name = name_of(claim)
        if node not in cluster.nodes:
            yield _violation(node, "NodeMissing", f'the node of NodeClaim "{name}" does not exist')
        elif node in named:
            yield _violation(
                node, "ClaimedTwice", f'NodeClaim "{name}" is not the first to name it'
            )
        named.add(node)
    for node in sorted(cluster.nodes.keys() - named):
        if keys.NODEPOOL in labels_of(cluster.nodes[node].obj):
            yield _violation(node, "ClaimMissing", "it is a NodePool's, but has no NodeClaim")


def _violation(node: str, rule: str, message: str) -> Violation:
    return Violation(pod="", node=node, rule=rule, message=message)
