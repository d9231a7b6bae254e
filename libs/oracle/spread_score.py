"""Score of plugin PodTopologySpread: soft constraints, and the defaults of pods without any.

Apart from `score` because it has constants and rules of its own. A pod of a controller that has no
constraint at all is spread over hosts and zones by default; like pods are then those of the same
namespace and labels (kube-scheduler asks the services and controllers that select it instead).
"""

from collections.abc import Sequence
from math import log

from libs.oracle.cluster import Cluster, Node
from libs.oracle.filters.pod_topology_spread import (
    SpreadConstraint,
    count_domains,
    read_constraints,
)
from libs.oracle.objects import metadata_of
from libs.oracle.pods import Pod
from libs.oracle.selectors import LabelRequirement, LabelSelector

_HOSTNAME = "kubernetes.io/hostname"
_DEFAULTS = ((_HOSTNAME, 3), ("topology.kubernetes.io/zone", 5))
_LABELS_OF_ONE_POD = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"}
)


def score_spread(cluster: Cluster, pod: Pod, nodes: Sequence[Node]) -> list[int] | None:
    """Return 0 to 100 for each of the nodes, most where fewest like pods are.

    Returns:
        None if there is nothing to spread.
    """
    constraints = read_constraints(cluster, pod, "ScheduleAnyway")
    needs_all_keys = bool(constraints)
    if not (pod.spec.get("topologySpreadConstraints") or cluster.default_spread):
        constraints = _default_constraints(pod)
    if not constraints:
        return None
    scored = [
        node
        for node in nodes
        if not needs_all_keys or all(c.topology_key in node.labels for c in constraints)
    ]
    crowding = [0.0] * len(scored)
    for constraint in constraints:
        (counts,) = count_domains(cluster, pod, [constraint])
        domains = [node.labels.get(constraint.topology_key) for node in scored]
        distinct = set(domains)
        weight = log(len(distinct) + 2)
        crowds = {
            domain: 0.0
            if domain is None
            else counts.get(domain, 0) * weight + constraint.max_skew - 1
            for domain in distinct
        }
        crowding = [crowd + crowds[domain] for crowd, domain in zip(crowding, domains, strict=True)]
    points = dict(zip((node.name for node in scored), _invert(crowding), strict=True))
    return [points.get(node.name, 0) for node in nodes]


def _invert(crowding: Sequence[float]) -> list[int]:
    rounded = [round(amount) for amount in crowding]
    lowest, highest = min(rounded, default=0), max(rounded, default=0)
    return [100 * (highest + lowest - amount) // highest if highest else 100 for amount in rounded]


def _default_constraints(pod: Pod) -> list[SpreadConstraint]:
    owners = metadata_of(pod.obj).get("ownerReferences") or ()
    if not any(owner.get("controller") for owner in owners):
        return []
    selector = LabelSelector(
        tuple(
            LabelRequirement(key, "In", frozenset((value,)))
            for key, value in pod.labels.items()
            if key not in _LABELS_OF_ONE_POD
        )
    )
    return [
        SpreadConstraint(
            topology_key=key,
            max_skew=max_skew,
            min_domains=1,
            selector=selector,
            honors_affinity=True,
            honors_taints=False,
        )
        for key, max_skew in _DEFAULTS
    ]
