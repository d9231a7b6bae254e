"""Mirrors `model/v1/reason.proto`."""

from joiner.model.v1 import reason_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.reason import Rejection, Rule, TargetKind, Unplaceable
from libs.wire.field import at, each, inverted, within
from libs.wire.resources import decode_difference, decode_resources, encode_resources


def decode_rule(number: pb.Rule.ValueType) -> Rule:
    """Return the rule; unspecified and unknown numbers are the unknown rule."""
    return _RULES.get(number, Rule.UNKNOWN)


def encode_rule(rule: Rule) -> pb.Rule.ValueType:
    """Return the number."""
    return _RULE_NUMBERS[rule]


def decode_unplaceable(message: pb.Unplaceable) -> Unplaceable:
    """Return the reason; counts of one rule are sorted by rule."""
    counts = each("existing", message.existing, _decode_count)
    return Unplaceable(
        message=message.message,
        rejections=each("rejections", message.rejections, decode_rejection),
        existing=tuple(sorted(counts)),
        deferred=message.deferred,
        untold_pools=within("untold_pools", message.untold_pools, 0),
    )


def encode_unplaceable(reason: Unplaceable) -> pb.Unplaceable:
    """Return the message."""
    return pb.Unplaceable(
        message=reason.message,
        rejections=map(encode_rejection, reason.rejections),
        existing=[
            pb.RejectionCount(rule=encode_rule(rule), nodes=nodes)
            for rule, nodes in sorted(reason.existing)
        ],
        deferred=reason.deferred,
        untold_pools=reason.untold_pools,
    )


def decode_rejection(message: pb.Rejection) -> Rejection:
    """Return why one target refuses."""
    target_kind, target = _decode_target(message)
    return Rejection(
        target_kind=target_kind,
        target=target,
        rule=decode_rule(message.rule),
        message=message.message,
        nearest_instance_type=message.nearest_instance_type,
        asked=at("asked", message.asked, decode_difference),
        offered=at("offered", message.offered, decode_difference),
        key=message.key,
        suggestion=message.suggestion,
        overhead=at("overhead", message.overhead, decode_resources),
    )


def encode_rejection(rejection: Rejection) -> pb.Rejection:
    """Return the message."""
    message = pb.Rejection(
        rule=encode_rule(rejection.rule),
        message=rejection.message,
        nearest_instance_type=rejection.nearest_instance_type,
        asked=encode_resources(rejection.asked),
        offered=encode_resources(rejection.offered),
        key=rejection.key,
        suggestion=rejection.suggestion,
        overhead=encode_resources(rejection.overhead),
    )
    match rejection.target_kind:
        case TargetKind.NODEPOOL:
            message.nodepool = rejection.target
        case TargetKind.NODE:
            message.node = rejection.target
        case TargetKind.NODECLAIM:
            message.nodeclaim = rejection.target
    return message


def _decode_count(message: pb.RejectionCount) -> tuple[Rule, int]:
    return decode_rule(message.rule), within("nodes", message.nodes, 0)


def _decode_target(message: pb.Rejection) -> tuple[TargetKind, str]:
    match message.WhichOneof("target"):
        case "nodepool":
            return TargetKind.NODEPOOL, message.nodepool
        case "node":
            return TargetKind.NODE, message.node
        case "nodeclaim":
            return TargetKind.NODECLAIM, message.nodeclaim
        case _:
            raise InvalidRequest("is required", field="target")


_RULES = {
    pb.RULE_UNSPECIFIED: Rule.UNKNOWN,
    pb.RULE_TAINTS: Rule.TAINTS,
    pb.RULE_NODE_AFFINITY: Rule.NODE_AFFINITY,
    pb.RULE_RESOURCES: Rule.RESOURCES,
    pb.RULE_HOST_PORTS: Rule.HOST_PORTS,
    pb.RULE_TOPOLOGY_SPREAD: Rule.TOPOLOGY_SPREAD,
    pb.RULE_POD_AFFINITY: Rule.POD_AFFINITY,
    pb.RULE_POD_ANTI_AFFINITY: Rule.POD_ANTI_AFFINITY,
    pb.RULE_VOLUME_TOPOLOGY: Rule.VOLUME_TOPOLOGY,
    pb.RULE_VOLUME_LIMITS: Rule.VOLUME_LIMITS,
    pb.RULE_VOLUME_CLAIM: Rule.VOLUME_CLAIM,
    pb.RULE_DEVICES: Rule.DEVICES,
    pb.RULE_POOL_LIMITS: Rule.POOL_LIMITS,
    pb.RULE_POOL_NOT_READY: Rule.POOL_NOT_READY,
    pb.RULE_POOL_REQUIREMENTS: Rule.POOL_REQUIREMENTS,
    pb.RULE_OFFERINGS: Rule.OFFERINGS,
    pb.RULE_MIN_VALUES: Rule.MIN_VALUES,
    pb.RULE_RESERVATIONS: Rule.RESERVATIONS,
    pb.RULE_GANG: Rule.GANG,
    pb.RULE_NO_POOL: Rule.NO_POOL,
    pb.RULE_NODE_UNAVAILABLE: Rule.NODE_UNAVAILABLE,
    pb.RULE_INVALID_POD: Rule.INVALID_POD,
    pb.RULE_CATALOGUE: Rule.CATALOGUE,
    pb.RULE_POOL_STATIC: Rule.POOL_STATIC,
    pb.RULE_ESTIMATE: Rule.ESTIMATE,
    pb.RULE_POOL_VALUES: Rule.POOL_VALUES,
    pb.RULE_STORAGE_CAPACITY: Rule.STORAGE_CAPACITY,
    pb.RULE_NODE_FEATURES: Rule.NODE_FEATURES,
    pb.RULE_VOLUME_BINDING: Rule.VOLUME_BINDING,
}
_RULE_NUMBERS = inverted(_RULES)
