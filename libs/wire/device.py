"""Mirrors `model/v1/device.proto`."""

from joiner.model.v1 import device_pb2 as pb

from libs.domain.device import (
    AttributeValue,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DevicePool,
    DeviceRequest,
    DeviceSubRequest,
    DeviceVersion,
)
from libs.domain.errors import InvalidRequest
from libs.wire.field import at, each, require, unique, within
from libs.wire.requirement import decode_requirements, encode_requirements
from libs.wire.resources import decode_resources, encode_resources


def decode_device_claim(message: pb.DeviceClaim) -> DeviceClaim:
    """Return the claim."""
    return DeviceClaim(
        claim=message.claim,
        requests=each("requests", message.requests, _decode_request),
        constraints=each("constraints", message.constraints, _decode_constraint),
        allocated_terms=each("allocated_terms", message.allocated_terms, decode_requirements),
    )


def encode_device_claim(claim: DeviceClaim) -> pb.DeviceClaim:
    """Return the message."""
    return pb.DeviceClaim(
        claim=claim.claim,
        requests=map(_encode_request, claim.requests),
        constraints=[
            pb.DeviceConstraint(requests=one.requests, match_attribute=one.match_attribute)
            for one in claim.constraints
        ],
        allocated_terms=map(encode_requirements, claim.allocated_terms),
    )


def decode_device_pool(message: pb.DevicePool) -> DevicePool:
    """Return the pool, devices sorted by name."""
    require(message, "driver", "pool")
    devices = each("devices", message.devices, _decode_device)
    return DevicePool(
        driver=message.driver,
        pool=message.pool,
        devices=unique("devices", devices, lambda device: device.name),
        counters=each("counters", message.counters, _decode_counter_use),
        node_name=message.node_name,
        node_terms=each("node_terms", message.node_terms, decode_requirements),
        allocated=tuple(message.allocated),
        complete=message.complete,
    )


def encode_device_pool(pool: DevicePool) -> pb.DevicePool:
    """Return the message, devices sorted by name."""
    return pb.DevicePool(
        driver=pool.driver,
        pool=pool.pool,
        devices=map(_encode_device, sorted(pool.devices, key=lambda device: device.name)),
        counters=map(_encode_counter_use, pool.counters),
        node_name=pool.node_name,
        node_terms=map(encode_requirements, pool.node_terms),
        allocated=pool.allocated,
        complete=pool.complete,
    )


def decode_device_class(message: pb.DeviceClass) -> DeviceClass:
    """Return the class."""
    require(message, "name")
    return DeviceClass(name=message.name, selectors=tuple(message.selectors))


def encode_device_class(device_class: DeviceClass) -> pb.DeviceClass:
    """Return the message."""
    return pb.DeviceClass(name=device_class.name, selectors=device_class.selectors)


def _decode_request(message: pb.DeviceRequest) -> DeviceRequest:
    require(message, "name", "alternatives")
    return DeviceRequest(
        name=message.name,
        alternatives=each("alternatives", message.alternatives, _decode_sub_request),
    )


def _encode_request(request: DeviceRequest) -> pb.DeviceRequest:
    return pb.DeviceRequest(
        name=request.name, alternatives=map(_encode_sub_request, request.alternatives)
    )


def _decode_sub_request(message: pb.DeviceSubRequest) -> DeviceSubRequest:
    require(message, "device_class")
    return DeviceSubRequest(
        name=message.name,
        device_class=message.device_class,
        selectors=tuple(message.selectors),
        count=within("count", message.count, 0),
        all=message.all,
        capacity=each("capacity", message.capacity, _decode_capacity),
    )


def _encode_sub_request(request: DeviceSubRequest) -> pb.DeviceSubRequest:
    return pb.DeviceSubRequest(
        name=request.name,
        device_class=request.device_class,
        selectors=request.selectors,
        count=request.count,
        all=request.all,
        capacity=map(_encode_capacity, request.capacity),
    )


def _decode_constraint(message: pb.DeviceConstraint) -> DeviceConstraint:
    require(message, "match_attribute")
    return DeviceConstraint(
        requests=tuple(message.requests), match_attribute=message.match_attribute
    )


def _decode_device(message: pb.Device) -> Device:
    require(message, "name")
    attributes = each("attributes", message.attributes, _decode_attribute)
    capacity = each("capacity", message.capacity, _decode_capacity)
    return Device(
        name=message.name,
        attributes=unique("attributes", attributes, lambda attribute: attribute.name),
        capacity=unique("capacity", capacity, lambda dimension: dimension.name),
        shared=message.shared,
        counters=each("counters", message.counters, _decode_counter_use),
    )


def _encode_device(device: Device) -> pb.Device:
    return pb.Device(
        name=device.name,
        attributes=map(_encode_attribute, sorted(device.attributes, key=lambda one: one.name)),
        capacity=map(_encode_capacity, sorted(device.capacity, key=lambda one: one.name)),
        shared=device.shared,
        counters=map(_encode_counter_use, device.counters),
    )


def _decode_attribute(message: pb.DeviceAttribute) -> DeviceAttribute:
    require(message, "name")
    return DeviceAttribute(name=message.name, value=_decode_value(message))


def _decode_value(message: pb.DeviceAttribute) -> AttributeValue:
    match message.WhichOneof("value"):
        case "text":
            return message.text
        case "number":
            return message.number
        case "flag":
            return message.flag
        case "version":
            return DeviceVersion(text=message.version)
        case _:
            raise InvalidRequest("is required", field="value")


def _encode_attribute(attribute: DeviceAttribute) -> pb.DeviceAttribute:
    match attribute.value:
        case DeviceVersion(text=text):
            return pb.DeviceAttribute(name=attribute.name, version=text)
        case bool(flag):
            return pb.DeviceAttribute(name=attribute.name, flag=flag)
        case int(number):
            return pb.DeviceAttribute(name=attribute.name, number=number)
        case str(text):
            return pb.DeviceAttribute(name=attribute.name, text=text)


def _decode_capacity(message: pb.DeviceCapacity) -> DeviceCapacity:
    require(message, "name")
    return DeviceCapacity(name=message.name, amount=within("amount", message.amount, 0))


def _encode_capacity(capacity: DeviceCapacity) -> pb.DeviceCapacity:
    return pb.DeviceCapacity(name=capacity.name, amount=capacity.amount)


def _decode_counter_use(message: pb.CounterUse) -> CounterUse:
    require(message, "counter_set")
    return CounterUse(
        counter_set=message.counter_set, amounts=at("amounts", message.amounts, decode_resources)
    )


def _encode_counter_use(use: CounterUse) -> pb.CounterUse:
    return pb.CounterUse(counter_set=use.counter_set, amounts=encode_resources(use.amounts))
