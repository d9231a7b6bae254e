"""Mirrors what `provider/v1/provider.proto` says of a provider; instances are in `launch.py`."""

from joiner.model.v1 import nodeclaim_pb2
from joiner.provider.v1 import provider_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.nodeclaim import ConditionStatus
from libs.domain.provider import (
    Capabilities,
    InstanceTypeListing,
    NodeClassCondition,
    ProviderEvent,
    ProviderEventKind,
    RepairPolicy,
    ResolvedNodeClass,
)
from libs.wire.capacity import decode_instance_type, encode_instance_type
from libs.wire.field import at, each, inverted, optional, require, unique
from libs.wire.instant import decode_instant, decode_span, encode_instant, encode_span
from libs.wire.node_class import decode_struct, encode_struct
from libs.wire.nodeclaim import decode_condition_status, encode_condition_status


def decode_capabilities(message: pb.GetCapabilitiesResponse) -> Capabilities:
    """Return what the provider is."""
    require(message, "name", "group", "kind")
    return Capabilities(
        name=message.name,
        group=message.group,
        kind=message.kind,
        versions=tuple(message.versions),
        well_known_keys=tuple(sorted(message.well_known_keys)),
        restricted_domains=tuple(sorted(message.restricted_domains)),
        unsupported_topology_keys=tuple(sorted(message.unsupported_topology_keys)),
        unsupported_provisioners=tuple(sorted(message.unsupported_provisioners)),
        repair_policies=each("repair_policies", message.repair_policies, _decode_repair_policy),
        registration_hooks=tuple(message.registration_hooks),
        reservation_id_key=message.reservation_id_key,
    )


def encode_capabilities(capabilities: Capabilities) -> pb.GetCapabilitiesResponse:
    """Return the message."""
    return pb.GetCapabilitiesResponse(
        name=capabilities.name,
        group=capabilities.group,
        kind=capabilities.kind,
        versions=capabilities.versions,
        well_known_keys=sorted(capabilities.well_known_keys),
        restricted_domains=sorted(capabilities.restricted_domains),
        unsupported_topology_keys=sorted(capabilities.unsupported_topology_keys),
        unsupported_provisioners=sorted(capabilities.unsupported_provisioners),
        repair_policies=map(_encode_repair_policy, capabilities.repair_policies),
        registration_hooks=capabilities.registration_hooks,
        reservation_id_key=capabilities.reservation_id_key,
    )


def decode_resolved_node_class(message: pb.ResolveNodeClassResponse) -> ResolvedNodeClass:
    """Return the class, resolved; conditions have their messages and are sorted by type."""
    messages = message.condition_messages

    def decode_condition(condition: nodeclaim_pb2.Condition) -> NodeClassCondition:
        require(condition, "type")
        return NodeClassCondition(
            type=condition.type,
            status=decode_condition_status(condition.status),
            reason=condition.reason,
            message=messages.get(condition.type, ""),
        )

    conditions = each("conditions", message.conditions, decode_condition)
    return ResolvedNodeClass(
        status=at("status", message.status, decode_struct),
        conditions=unique("conditions", conditions, lambda one: one.type),
        hash=message.hash,
        hash_version=message.hash_version,
    )


def encode_resolved_node_class(resolved: ResolvedNodeClass) -> pb.ResolveNodeClassResponse:
    """Return the message."""
    conditions = sorted(resolved.conditions, key=lambda one: one.type)
    return pb.ResolveNodeClassResponse(
        status=encode_struct(resolved.status),
        conditions=[
            nodeclaim_pb2.Condition(
                type=one.type, status=encode_condition_status(one.status), reason=one.reason
            )
            for one in conditions
        ],
        condition_messages={one.type: one.message for one in conditions if one.message},
        hash=resolved.hash,
        hash_version=resolved.hash_version,
    )


def decode_instance_type_listing(message: pb.ListInstanceTypesResponse) -> InstanceTypeListing:
    """Return the types, sorted by name."""
    require(message, "etag")
    types = each("instance_types", message.instance_types, decode_instance_type)
    if message.not_modified and types:
        raise InvalidRequest("must be empty where not_modified is set", field="instance_types")
    return InstanceTypeListing(
        etag=message.etag,
        not_modified=message.not_modified,
        instance_types=unique("instance_types", types, lambda one: one.name),
    )


def encode_instance_type_listing(listing: InstanceTypeListing) -> pb.ListInstanceTypesResponse:
    """Return the message, sorted by name."""
    types = sorted(listing.instance_types, key=lambda one: one.name)
    return pb.ListInstanceTypesResponse(
        etag=listing.etag,
        not_modified=listing.not_modified,
        instance_types=map(encode_instance_type, types),
    )


def decode_provider_event(message: pb.WatchEventsResponse) -> ProviderEvent:
    """Return the event; an unspecified or unknown kind is unknown."""
    require(message, "id", "provider_id")
    return ProviderEvent(
        id=message.id,
        provider_id=message.provider_id,
        kind=_KINDS.get(message.kind, ProviderEventKind.UNKNOWN),
        effective_at=optional(message, "effective_at", decode_instant),
        message=message.message,
    )


def encode_provider_event(event: ProviderEvent) -> pb.WatchEventsResponse:
    """Return the message."""
    return pb.WatchEventsResponse(
        id=event.id,
        provider_id=event.provider_id,
        kind=_KIND_NUMBERS[event.kind],
        effective_at=encode_instant(event.effective_at),
        message=event.message,
    )


def _decode_repair_policy(message: pb.RepairPolicy) -> RepairPolicy:
    require(message, "condition_type", "condition_status")
    try:
        status = ConditionStatus(message.condition_status)
    except ValueError:
        raise InvalidRequest(
            f"{message.condition_status!r} is not True, False or Unknown", field="condition_status"
        ) from None
    return RepairPolicy(
        condition_type=message.condition_type,
        condition_status=status,
        toleration=at("toleration", message.toleration, decode_span),
    )


def _encode_repair_policy(policy: RepairPolicy) -> pb.RepairPolicy:
    return pb.RepairPolicy(
        condition_type=policy.condition_type,
        condition_status=policy.condition_status,
        toleration=encode_span(policy.toleration),
    )


_KINDS = {
    pb.WatchEventsResponse.KIND_UNSPECIFIED: ProviderEventKind.UNKNOWN,
    pb.WatchEventsResponse.KIND_SPOT_INTERRUPTION: ProviderEventKind.SPOT_INTERRUPTION,
    pb.WatchEventsResponse.KIND_REBALANCE_RECOMMENDATION: (
        ProviderEventKind.REBALANCE_RECOMMENDATION
    ),
    pb.WatchEventsResponse.KIND_SCHEDULED_MAINTENANCE: ProviderEventKind.SCHEDULED_MAINTENANCE,
    pb.WatchEventsResponse.KIND_INSTANCE_TERMINATING: ProviderEventKind.INSTANCE_TERMINATING,
}
_KIND_NUMBERS = inverted(_KINDS)
