"""Mirrors `model/v1/nodepool.proto`."""

from joiner.model.v1 import nodepool_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import (
    Budget,
    ConsolidationPolicy,
    Disruption,
    DisruptionReason,
    NodePool,
    NodeTemplate,
)
from libs.wire.capacity import decode_node_class_ref, encode_node_class_ref
from libs.wire.field import at, choice, each, inverted, optional, require, within
from libs.wire.instant import decode_span, encode_span
from libs.wire.requirement import (
    decode_labels,
    decode_requirements,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_resources, encode_resources
from libs.wire.taint import decode_taint, encode_taint


def decode_nodepool(message: pb.NodePool) -> NodePool:
    """Return the pool."""
    require(message, "name", "uid", "template", "disruption")
    replicas = None
    if message.HasField("replicas"):
        replicas = within("replicas", message.replicas, 0)
    return NodePool(
        name=message.name,
        uid=message.uid,
        generation=message.generation,
        hash=message.hash,
        weight=within("weight", message.weight, 0),
        template=at("template", message.template, _decode_template),
        disruption=at("disruption", message.disruption, _decode_disruption),
        limits=at("limits", message.limits, decode_resources),
        replicas=replicas,
        ready=message.ready,
        problems=tuple(message.problems),
    )


def encode_nodepool(pool: NodePool) -> pb.NodePool:
    """Return the message."""
    return pb.NodePool(
        name=pool.name,
        uid=pool.uid,
        generation=pool.generation,
        hash=pool.hash,
        weight=pool.weight,
        template=_encode_template(pool.template),
        disruption=_encode_disruption(pool.disruption),
        limits=encode_resources(pool.limits),
        replicas=pool.replicas,
        ready=pool.ready,
        problems=pool.problems,
    )


def decode_disruption_reason(number: pb.DisruptionReason.ValueType) -> DisruptionReason:
    """Return the reason; unspecified and unknown numbers are refused."""
    return choice("", _REASONS, number)


def encode_disruption_reason(reason: DisruptionReason) -> pb.DisruptionReason.ValueType:
    """Return the number."""
    return _REASON_NUMBERS[reason]


def _decode_template(message: pb.NodeTemplate) -> NodeTemplate:
    require(message, "node_class")
    return NodeTemplate(
        labels=decode_labels("labels", message.labels),
        annotations=decode_labels("annotations", message.annotations),
        requirements=at("requirements", message.requirements, decode_requirements),
        taints=each("taints", message.taints, decode_taint),
        startup_taints=each("startup_taints", message.startup_taints, decode_taint),
        node_class=at("node_class", message.node_class, decode_node_class_ref),
        expire_after=optional(message, "expire_after", decode_span),
        termination_grace_period=optional(message, "termination_grace_period", decode_span),
    )


def _encode_template(template: NodeTemplate) -> pb.NodeTemplate:
    return pb.NodeTemplate(
        labels=encode_labels(template.labels),
        annotations=encode_labels(template.annotations),
        requirements=encode_requirements(template.requirements),
        taints=map(encode_taint, template.taints),
        startup_taints=map(encode_taint, template.startup_taints),
        node_class=encode_node_class_ref(template.node_class),
        expire_after=encode_span(template.expire_after),
        termination_grace_period=encode_span(template.termination_grace_period),
    )


def _decode_disruption(message: pb.Disruption) -> Disruption:
    return Disruption(
        consolidate_after=optional(message, "consolidate_after", decode_span),
        consolidation_policy=choice(
            "consolidation_policy", _POLICIES, message.consolidation_policy
        ),
        budgets=each("budgets", message.budgets, _decode_budget),
    )


def _encode_disruption(disruption: Disruption) -> pb.Disruption:
    return pb.Disruption(
        consolidate_after=encode_span(disruption.consolidate_after),
        consolidation_policy=_POLICY_NUMBERS[disruption.consolidation_policy],
        budgets=map(_encode_budget, disruption.budgets),
    )


def _decode_budget(message: pb.Budget) -> Budget:
    amount = message.WhichOneof("amount")
    if amount is None:
        raise InvalidRequest("either nodes or percent is required", field="amount")
    return Budget(
        nodes=within("nodes", message.nodes, 0) if amount == "nodes" else None,
        percent=within("percent", message.percent, 0, 100) if amount == "percent" else None,
        reasons=frozenset(each("reasons", message.reasons, decode_disruption_reason)),
        schedule=message.schedule,
        duration=optional(message, "duration", decode_span),
    )


def _encode_budget(budget: Budget) -> pb.Budget:
    message = pb.Budget(
        reasons=sorted(map(encode_disruption_reason, budget.reasons)),
        schedule=budget.schedule,
        duration=encode_span(budget.duration),
    )
    if budget.nodes is not None:
        message.nodes = budget.nodes
    elif budget.percent is not None:
        message.percent = budget.percent
    return message


_REASONS = {
    pb.DISRUPTION_REASON_EMPTY: DisruptionReason.EMPTY,
    pb.DISRUPTION_REASON_DRIFTED: DisruptionReason.DRIFTED,
    pb.DISRUPTION_REASON_UNDERUTILIZED: DisruptionReason.UNDERUTILIZED,
}
_REASON_NUMBERS = inverted(_REASONS)
_POLICIES = {
    pb.CONSOLIDATION_POLICY_WHEN_EMPTY: ConsolidationPolicy.WHEN_EMPTY,
    pb.CONSOLIDATION_POLICY_WHEN_EMPTY_OR_UNDERUTILIZED: (
        ConsolidationPolicy.WHEN_EMPTY_OR_UNDERUTILIZED
    ),
    pb.CONSOLIDATION_POLICY_BALANCED: ConsolidationPolicy.BALANCED,
}
_POLICY_NUMBERS = inverted(_POLICIES)
