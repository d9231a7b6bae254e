"""Mirrors `model/v1/topology.proto`."""

from joiner.model.v1 import topology_pb2 as pb

from libs.domain.topology import (
    NodeInclusionPolicy,
    PodAffinityTerm,
    PreferredNodeTerm,
    TopologySpread,
    WeightedPodAffinityTerm,
)
from libs.wire.field import (
    at,
    by_content,
    choice,
    encoded_once,
    inverted,
    optional,
    require,
    within,
)
from libs.wire.requirement import (
    decode_label_selector,
    decode_requirements,
    encode_label_selector,
    encode_requirements,
)

_HEAVIEST = 100


@by_content
def decode_topology_spread(message: pb.TopologySpreadConstraint) -> TopologySpread:
    """Return the constraint."""
    require(message, "topology_key")
    min_domains = None
    if message.HasField("min_domains"):
        min_domains = within("min_domains", message.min_domains, 1)
    return TopologySpread(
        topology_key=message.topology_key,
        max_skew=within("max_skew", message.max_skew, 1),
        required=message.required,
        selector=optional(message, "selector", decode_label_selector),
        min_domains=min_domains,
        node_affinity_policy=choice(
            "node_affinity_policy", _POLICIES, message.node_affinity_policy
        ),
        node_taints_policy=choice("node_taints_policy", _POLICIES, message.node_taints_policy),
    )


@encoded_once
def encode_topology_spread(spread: TopologySpread) -> pb.TopologySpreadConstraint:
    """Return the message."""
    return pb.TopologySpreadConstraint(
        topology_key=spread.topology_key,
        max_skew=spread.max_skew,
        required=spread.required,
        selector=encode_label_selector(spread.selector),
        min_domains=spread.min_domains,
        node_affinity_policy=_POLICY_NUMBERS[spread.node_affinity_policy],
        node_taints_policy=_POLICY_NUMBERS[spread.node_taints_policy],
    )


@by_content
def decode_pod_affinity_term(message: pb.PodAffinityTerm) -> PodAffinityTerm:
    """Return the term."""
    require(message, "topology_key")
    return PodAffinityTerm(
        topology_key=message.topology_key,
        selector=optional(message, "selector", decode_label_selector),
        namespaces=tuple(sorted(message.namespaces)),
        namespace_selector=optional(message, "namespace_selector", decode_label_selector),
    )


@encoded_once
def encode_pod_affinity_term(term: PodAffinityTerm) -> pb.PodAffinityTerm:
    """Return the message, namespaces sorted."""
    return pb.PodAffinityTerm(
        topology_key=term.topology_key,
        selector=encode_label_selector(term.selector),
        namespaces=sorted(term.namespaces),
        namespace_selector=encode_label_selector(term.namespace_selector),
    )


def decode_weighted_pod_affinity_term(
    message: pb.WeightedPodAffinityTerm,
) -> WeightedPodAffinityTerm:
    """Return the preferred term."""
    require(message, "term")
    return WeightedPodAffinityTerm(
        weight=within("weight", message.weight, 1, _HEAVIEST),
        term=at("term", message.term, decode_pod_affinity_term),
    )


def encode_weighted_pod_affinity_term(
    weighted: WeightedPodAffinityTerm,
) -> pb.WeightedPodAffinityTerm:
    """Return the message."""
    return pb.WeightedPodAffinityTerm(
        weight=weighted.weight, term=encode_pod_affinity_term(weighted.term)
    )


@by_content
def decode_preferred_node_term(message: pb.PreferredNodeTerm) -> PreferredNodeTerm:
    """Return the preferred term."""
    return PreferredNodeTerm(
        weight=within("weight", message.weight, 1, _HEAVIEST),
        requirements=at("requirements", message.requirements, decode_requirements),
    )


@encoded_once
def encode_preferred_node_term(term: PreferredNodeTerm) -> pb.PreferredNodeTerm:
    """Return the message."""
    return pb.PreferredNodeTerm(
        weight=term.weight, requirements=encode_requirements(term.requirements)
    )


_POLICIES = {
    pb.NODE_INCLUSION_POLICY_HONOR: NodeInclusionPolicy.HONOR,
    pb.NODE_INCLUSION_POLICY_IGNORE: NodeInclusionPolicy.IGNORE,
}
_POLICY_NUMBERS = inverted(_POLICIES)
