"""Topology spread constraints and affinities between pods.

Apart from `pod` because both depend on the pod's own labels: `matchLabelKeys` are merged here.

Source: Kubernetes documentation, "Pod Topology Spread Constraints" and "Assigning Pods to Nodes".
"""

from collections.abc import Mapping

from libs.domain.errors import InvalidRequest
from libs.domain.topology import (
    NodeInclusionPolicy,
    PodAffinityTerm,
    TopologySpread,
    WeightedPodAffinityTerm,
)
from libs.kube.convert import selectors
from libs.kube.objects import pod as objects

_WHEN_UNSATISFIABLE = {"DoNotSchedule": True, "ScheduleAnyway": False}


def topology_spread(
    constraint: objects.TopologySpreadConstraint, labels: Mapping[str, str], path: str
) -> TopologySpread:
    """Return one constraint of a pod with these labels.

    An empty selector counts no pod, as in kube-scheduler, where it is read like a missing one.

    Raises:
        InvalidRequest: a field that Kubernetes refuses.
    """
    if constraint.max_skew < 1:
        raise InvalidRequest(f"{constraint.max_skew} is below 1", field=f"{path}.maxSkew")
    if constraint.min_domains is not None and constraint.min_domains < 1:
        raise InvalidRequest(f"{constraint.min_domains} is below 1", field=f"{path}.minDomains")
    required = _WHEN_UNSATISFIABLE.get(constraint.when_unsatisfiable)
    if required is None:
        raise InvalidRequest(
            f"{constraint.when_unsatisfiable!r} is neither DoNotSchedule nor ScheduleAnyway",
            field=f"{path}.whenUnsatisfiable",
        )
    selector = selectors.with_label_keys(
        selectors.label_selector(constraint.label_selector, f"{path}.labelSelector"),
        labels,
        match=constraint.match_label_keys,
    )
    return TopologySpread(
        topology_key=selectors.topology_key(constraint.topology_key, f"{path}.topologyKey"),
        max_skew=constraint.max_skew,
        required=required,
        selector=selector if selector is not None and len(selector.requirements) else None,
        min_domains=constraint.min_domains if required else None,
        node_affinity_policy=_policy(
            constraint.node_affinity_policy,
            NodeInclusionPolicy.HONOR,
            f"{path}.nodeAffinityPolicy",
        ),
        node_taints_policy=_policy(
            constraint.node_taints_policy, NodeInclusionPolicy.IGNORE, f"{path}.nodeTaintsPolicy"
        ),
    )


def pod_affinity_term(
    term: objects.PodAffinityTerm, namespace: str, labels: Mapping[str, str], path: str
) -> PodAffinityTerm:
    """Return one term of a pod in this namespace with these labels.

    Raises:
        InvalidRequest: a field that Kubernetes refuses.
    """
    namespaces = term.namespaces
    if not namespaces and term.namespace_selector is None:
        namespaces = (namespace,)
    return PodAffinityTerm(
        topology_key=selectors.topology_key(term.topology_key, f"{path}.topologyKey"),
        selector=selectors.with_label_keys(
            selectors.label_selector(term.label_selector, f"{path}.labelSelector"),
            labels,
            match=term.match_label_keys,
            mismatch=term.mismatch_label_keys,
        ),
        namespaces=tuple(sorted(set(namespaces))),
        namespace_selector=selectors.label_selector(
            term.namespace_selector, f"{path}.namespaceSelector"
        ),
    )


def weighted_terms(
    terms: tuple[objects.WeightedPodAffinityTerm, ...],
    namespace: str,
    labels: Mapping[str, str],
    path: str,
) -> tuple[WeightedPodAffinityTerm, ...]:
    """Return preferred terms, heaviest first.

    Raises:
        InvalidRequest: a field that Kubernetes refuses.
    """
    found = [
        WeightedPodAffinityTerm(
            weight=weight(one.weight, f"{path}[{index}].weight"),
            term=pod_affinity_term(
                one.pod_affinity_term, namespace, labels, f"{path}[{index}].podAffinityTerm"
            ),
        )
        for index, one in enumerate(terms)
    ]
    return tuple(sorted(found, key=lambda one: -one.weight))


def weight(number: int, path: str) -> int:
    """Return the weight of a preference.

    Raises:
        InvalidRequest: it is not within 1 to 100.
    """
    if not 1 <= number <= 100:
        raise InvalidRequest(f"{number} is not within 1 to 100", field=path)
    return number


def _policy(text: str, default: NodeInclusionPolicy, path: str) -> NodeInclusionPolicy:
    if not text:
        return default
    try:
        return NodeInclusionPolicy(text)
    except ValueError:
        raise InvalidRequest(f"{text!r} is neither Honor nor Ignore", field=path) from None
