"""Mirrors `model/v1/capacity.proto`.

An offering's zone and capacity type are requirements like any other in the domain; on the wire they
have fields of their own and are left out of the list.
"""

from functools import lru_cache

from joiner.model.v1 import capacity_pb2 as pb

from libs.domain import labels
from libs.domain.capacity import (
    Catalogue,
    InstanceType,
    NodeClassRef,
    ObservedAllocatable,
    Offering,
)
from libs.domain.requirements import Requirements
from libs.wire.device import decode_device_pool, encode_device_pool
from libs.wire.field import at, each, require, unique, within
from libs.wire.instant import decode_instant, encode_instant
from libs.wire.requirement import decode_requirements, encode_requirements
from libs.wire.resources import decode_resources, encode_resources

_OWN_FIELDS = (labels.ZONE, labels.CAPACITY_TYPE)


def decode_offering(message: pb.Offering) -> Offering:
    """Return the offering."""
    require(message, "zone", "capacity_type")
    further = at("requirements", message.requirements, decode_requirements)
    own = _place(message.zone, message.capacity_type)
    return Offering(
        zone=message.zone,
        capacity_type=message.capacity_type,
        price_nanos_per_hour=within("price_nanos_per_hour", message.price_nanos_per_hour, 0),
        available=message.available,
        requirements=own.intersection(further),
        reservation_id=message.reservation_id,
        reservation_capacity=within("reservation_capacity", message.reservation_capacity, 0),
        capacity_override=at("capacity_override", message.capacity_override, decode_resources),
        overhead_override=at("overhead_override", message.overhead_override, decode_resources),
    )


def encode_offering(offering: Offering) -> pb.Offering:
    """Return the message."""
    return pb.Offering(
        zone=offering.zone,
        capacity_type=offering.capacity_type,
        price_nanos_per_hour=offering.price_nanos_per_hour,
        available=offering.available,
        requirements=encode_requirements(_further(offering.requirements)),
        reservation_id=offering.reservation_id,
        reservation_capacity=offering.reservation_capacity,
        capacity_override=encode_resources(offering.capacity_override),
        overhead_override=encode_resources(offering.overhead_override),
    )


def decode_instance_type(message: pb.InstanceType) -> InstanceType:
    """Return the type, offerings sorted."""
    require(message, "name")
    offerings = each("offerings", message.offerings, decode_offering)
    return InstanceType(
        name=message.name,
        requirements=at("requirements", message.requirements, decode_requirements),
        capacity=at("capacity", message.capacity, decode_resources),
        overhead=at("overhead", message.overhead, decode_resources),
        offerings=unique("offerings", offerings, _offering_order),
        device_pools=each("device_pools", message.device_pools, decode_device_pool),
    )


def encode_instance_type(instance_type: InstanceType) -> pb.InstanceType:
    """Return the message, offerings sorted by zone, capacity type, reservation."""
    return pb.InstanceType(
        name=instance_type.name,
        requirements=encode_requirements(instance_type.requirements),
        capacity=encode_resources(instance_type.capacity),
        overhead=encode_resources(instance_type.overhead),
        offerings=map(encode_offering, sorted(instance_type.offerings, key=_offering_order)),
        device_pools=map(encode_device_pool, instance_type.device_pools),
    )


def decode_node_class_ref(message: pb.NodeClassRef) -> NodeClassRef:
    """Return the reference."""
    require(message, "group", "kind", "name")
    return NodeClassRef(group=message.group, kind=message.kind, name=message.name)


def encode_node_class_ref(ref: NodeClassRef) -> pb.NodeClassRef:
    """Return the message."""
    return pb.NodeClassRef(group=ref.group, kind=ref.kind, name=ref.name)


def decode_catalogue(message: pb.Catalogue) -> Catalogue:
    """Return the catalogue, types sorted by name."""
    require(message, "node_class", "observed_at")
    types = each("instance_types", message.instance_types, decode_instance_type)
    return Catalogue(
        node_class=at("node_class", message.node_class, decode_node_class_ref),
        etag=message.etag,
        observed_at=at("observed_at", message.observed_at, decode_instant),
        instance_types=unique("instance_types", types, lambda one: one.name),
        well_known_keys=tuple(sorted(message.well_known_keys)),
    )


def encode_catalogue(catalogue: Catalogue) -> pb.Catalogue:
    """Return the message, types sorted by name."""
    types = sorted(catalogue.instance_types, key=lambda one: one.name)
    return pb.Catalogue(
        node_class=encode_node_class_ref(catalogue.node_class),
        etag=catalogue.etag,
        observed_at=encode_instant(catalogue.observed_at),
        instance_types=map(encode_instance_type, types),
        well_known_keys=sorted(catalogue.well_known_keys),
    )


def decode_observed_allocatable(message: pb.ObservedAllocatable) -> ObservedAllocatable:
    """Return what live nodes reported."""
    require(message, "node_class", "instance_type")
    return ObservedAllocatable(
        node_class=at("node_class", message.node_class, decode_node_class_ref),
        instance_type=message.instance_type,
        allocatable=at("allocatable", message.allocatable, decode_resources),
    )


def encode_observed_allocatable(observed: ObservedAllocatable) -> pb.ObservedAllocatable:
    """Return the message."""
    return pb.ObservedAllocatable(
        node_class=encode_node_class_ref(observed.node_class),
        instance_type=observed.instance_type,
        allocatable=encode_resources(observed.allocatable),
    )


# A catalogue has ten thousand offerings in some dozen places: those are made once and shared.
_PLACES = 256


@lru_cache(_PLACES)
def _place(zone: str, capacity_type: str) -> Requirements:
    return Requirements.from_labels({labels.ZONE: zone, labels.CAPACITY_TYPE: capacity_type})


@lru_cache(_PLACES)
def _further(requirements: Requirements) -> Requirements:
    return requirements.without(_OWN_FIELDS)


def _offering_order(offering: Offering) -> tuple[str, str, str]:
    return offering.zone, offering.capacity_type, offering.reservation_id
