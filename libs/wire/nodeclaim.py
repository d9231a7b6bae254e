"""Mirrors `model/v1/nodeclaim.proto`."""

from joiner.model.v1 import nodeclaim_pb2 as pb

from libs.domain.nodeclaim import ClaimCommand, Condition, ConditionStatus, NodeClaim
from libs.wire.capacity import decode_node_class_ref, encode_node_class_ref
from libs.wire.field import at, choice, each, inverted, optional, require, unique
from libs.wire.instant import decode_instant, decode_span, encode_instant, encode_span
from libs.wire.requirement import (
    decode_labels,
    decode_requirements,
    encode_labels,
    encode_requirements,
)
from libs.wire.resources import decode_resources, encode_resources
from libs.wire.taint import decode_taint, encode_taint


def decode_nodeclaim(message: pb.NodeClaim) -> NodeClaim:
    """Return the claim, conditions sorted by type."""
    require(message, "name", "uid", "node_class", "created_at")
    conditions = each("conditions", message.conditions, _decode_condition)
    return NodeClaim(
        name=message.name,
        uid=message.uid,
        nodepool=message.nodepool,
        node_class=at("node_class", message.node_class, decode_node_class_ref),
        labels=decode_labels("labels", message.labels),
        annotations=decode_labels("annotations", message.annotations),
        requirements=at("requirements", message.requirements, decode_requirements),
        requests=at("requests", message.requests, decode_resources),
        taints=each("taints", message.taints, decode_taint),
        startup_taints=each("startup_taints", message.startup_taints, decode_taint),
        provider_id=message.provider_id,
        node_name=message.node_name,
        capacity=at("capacity", message.capacity, decode_resources),
        allocatable=at("allocatable", message.allocatable, decode_resources),
        conditions=unique("conditions", conditions, lambda condition: condition.type),
        created_at=at("created_at", message.created_at, decode_instant),
        deleting_at=optional(message, "deleting_at", decode_instant),
        last_pod_event_at=optional(message, "last_pod_event_at", decode_instant),
        expire_after=optional(message, "expire_after", decode_span),
        termination_grace_period=optional(message, "termination_grace_period", decode_span),
        command=optional(message, "command", _decode_claim_command),
        nominated_until=optional(message, "nominated_until", decode_instant),
    )


def encode_nodeclaim(claim: NodeClaim) -> pb.NodeClaim:
    """Return the message, conditions sorted by type."""
    return pb.NodeClaim(
        name=claim.name,
        uid=claim.uid,
        nodepool=claim.nodepool,
        node_class=encode_node_class_ref(claim.node_class),
        labels=encode_labels(claim.labels),
        annotations=encode_labels(claim.annotations),
        requirements=encode_requirements(claim.requirements),
        requests=encode_resources(claim.requests),
        taints=map(encode_taint, claim.taints),
        startup_taints=map(encode_taint, claim.startup_taints),
        provider_id=claim.provider_id,
        node_name=claim.node_name,
        capacity=encode_resources(claim.capacity),
        allocatable=encode_resources(claim.allocatable),
        conditions=map(_encode_condition, sorted(claim.conditions, key=lambda one: one.type)),
        created_at=encode_instant(claim.created_at),
        deleting_at=encode_instant(claim.deleting_at),
        last_pod_event_at=encode_instant(claim.last_pod_event_at),
        expire_after=encode_span(claim.expire_after),
        termination_grace_period=encode_span(claim.termination_grace_period),
        command=_encode_claim_command(claim.command),
        nominated_until=encode_instant(claim.nominated_until),
    )


def decode_condition_status(number: pb.Condition.Status.ValueType) -> ConditionStatus:
    """Return the status: unspecified is refused, an unknown number is read as unknown."""
    if number == pb.Condition.STATUS_UNSPECIFIED:
        return choice("status", _STATUSES, number)
    return _STATUSES.get(number, ConditionStatus.UNKNOWN)


def encode_condition_status(status: ConditionStatus) -> pb.Condition.Status.ValueType:
    """Return the number."""
    return _STATUS_NUMBERS[status]


def _decode_condition(message: pb.Condition) -> Condition:
    require(message, "type", "transitioned_at")
    return Condition(
        type=message.type,
        status=decode_condition_status(message.status),
        reason=message.reason,
        transitioned_at=at("transitioned_at", message.transitioned_at, decode_instant),
    )


def _encode_condition(condition: Condition) -> pb.Condition:
    return pb.Condition(
        type=condition.type,
        status=encode_condition_status(condition.status),
        reason=condition.reason,
        transitioned_at=encode_instant(condition.transitioned_at),
    )


def _decode_claim_command(message: pb.ClaimCommand) -> ClaimCommand:
    require(message, "id")
    return ClaimCommand(id=message.id, replacements=tuple(message.replacements))


def _encode_claim_command(command: ClaimCommand | None) -> pb.ClaimCommand | None:
    if command is None:
        return None
    return pb.ClaimCommand(id=command.id, replacements=command.replacements)


_STATUSES = {
    pb.Condition.STATUS_TRUE: ConditionStatus.TRUE,
    pb.Condition.STATUS_FALSE: ConditionStatus.FALSE,
    pb.Condition.STATUS_UNKNOWN: ConditionStatus.UNKNOWN,
}
_STATUS_NUMBERS = inverted(_STATUSES)
