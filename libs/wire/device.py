"""Mirrors `model/v1/device.proto`."""

from joiner.model.v1 import device_pb2 as pb

from libs.domain.device import (
    AttributeValue,
    CapacityPolicy,
    CommonValue,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceHold,
    DevicePool,
    DeviceRequest,
    DeviceSubRequest,
    DeviceVersion,
)
from libs.domain.errors import InvalidRequest
from libs.domain.taint import Toleration, TolerationOperator
from libs.wire.field import at, each, optional, require, unique, within
from libs.wire.requirement import decode_requirements, encode_requirements
from libs.wire.resources import decode_resources, encode_resources
from libs.wire.taint import decode_effect, decode_taint, encode_effect, encode_taint


def decode_device_claim(message: pb.DeviceClaim) -> DeviceClaim:
    """Return the claim."""
    return DeviceClaim(
        claim=message.claim,
        requests=each("requests", message.requests, _decode_request),
        constraints=each("constraints", message.constraints, _decode_constraint),
        allocated_terms=each("allocated_terms", message.allocated_terms, decode_requirements),
        reserved_for=tuple(message.reserved_for),
    )


def encode_device_claim(claim: DeviceClaim) -> pb.DeviceClaim:
    """Return the message."""
    return pb.DeviceClaim(
        claim=claim.claim,
        requests=map(_encode_request, claim.requests),
        constraints=map(_encode_constraint, claim.constraints),
        allocated_terms=map(encode_requirements, claim.allocated_terms),
        reserved_for=claim.reserved_for,
    )


def decode_device_pool(message: pb.DevicePool) -> DevicePool:
    """Return the pool."""
    require(message, "driver", "pool")
    return DevicePool(
        driver=message.driver,
        pool=message.pool,
        devices=each("devices", message.devices, _decode_device),
        counters=each("counters", message.counters, _decode_counter_use),
        node_name=message.node_name,
        node_terms=each("node_terms", message.node_terms, decode_requirements),
        allocated=tuple(message.allocated),
        complete=message.complete,
        holds=each("holds", message.holds, _decode_hold),
        problem=message.problem,
    )


def encode_device_pool(pool: DevicePool) -> pb.DevicePool:
    """Return the message; the order of the devices means something and is kept."""
    return pb.DevicePool(
        driver=pool.driver,
        pool=pool.pool,
        devices=map(_encode_device, pool.devices),
        counters=map(_encode_counter_use, pool.counters),
        node_name=pool.node_name,
        node_terms=map(encode_requirements, pool.node_terms),
        allocated=pool.allocated,
        complete=pool.complete,
        holds=map(_encode_hold, pool.holds),
        problem=pool.problem,
    )


def decode_device_class(message: pb.DeviceClass) -> DeviceClass:
    """Return the class."""
    require(message, "name")
    return DeviceClass(
        name=message.name,
        selectors=tuple(message.selectors),
        extended_resource=message.extended_resource,
    )


def encode_device_class(device_class: DeviceClass) -> pb.DeviceClass:
    """Return the message."""
    return pb.DeviceClass(
        name=device_class.name,
        selectors=device_class.selectors,
        extended_resource=device_class.extended_resource,
    )


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
        tolerations=each("tolerations", message.tolerations, _decode_toleration),
        admin_access=message.admin_access,
    )


def _encode_sub_request(request: DeviceSubRequest) -> pb.DeviceSubRequest:
    return pb.DeviceSubRequest(
        name=request.name,
        device_class=request.device_class,
        selectors=request.selectors,
        count=request.count,
        all=request.all,
        capacity=map(_encode_capacity, request.capacity),
        tolerations=map(_encode_toleration, request.tolerations),
        admin_access=request.admin_access,
    )


def _decode_toleration(message: pb.DeviceToleration) -> Toleration:
    operator = TolerationOperator.EXISTS if message.any_value else TolerationOperator.EQUAL
    return Toleration(
        key=message.key,
        operator=operator,
        value=message.value,
        effect=decode_effect("effect", message.effect) if message.effect else None,
    )


def _encode_toleration(toleration: Toleration) -> pb.DeviceToleration:
    message = pb.DeviceToleration(
        key=toleration.key,
        value=toleration.value,
        any_value=toleration.operator is TolerationOperator.EXISTS,
    )
    if toleration.effect is not None:
        message.effect = encode_effect(toleration.effect)
    return message


def _decode_constraint(message: pb.DeviceConstraint) -> DeviceConstraint:
    if bool(message.match_attribute) == bool(message.distinct_attribute):
        raise InvalidRequest("exactly one of both attributes is to be named", field="")
    return DeviceConstraint(
        requests=tuple(message.requests),
        match_attribute=message.match_attribute,
        distinct_attribute=message.distinct_attribute,
    )


def _encode_constraint(constraint: DeviceConstraint) -> pb.DeviceConstraint:
    return pb.DeviceConstraint(
        requests=constraint.requests,
        match_attribute=constraint.match_attribute,
        distinct_attribute=constraint.distinct_attribute,
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
        taints=each("taints", message.taints, decode_taint),
        node_terms=each("node_terms", message.node_terms, decode_requirements),
        binds_to_node=message.binds_to_node,
        has_binding_conditions=message.has_binding_conditions,
    )


def _encode_device(device: Device) -> pb.Device:
    return pb.Device(
        name=device.name,
        attributes=map(_encode_attribute, sorted(device.attributes, key=lambda one: one.name)),
        capacity=map(_encode_capacity, sorted(device.capacity, key=lambda one: one.name)),
        shared=device.shared,
        counters=map(_encode_counter_use, device.counters),
        taints=map(encode_taint, device.taints),
        node_terms=map(encode_requirements, device.node_terms),
        binds_to_node=device.binds_to_node,
        has_binding_conditions=device.has_binding_conditions,
    )


def _decode_hold(message: pb.DeviceHold) -> DeviceHold:
    require(message, "device", "claim")
    return DeviceHold(
        device=message.device,
        claim=message.claim,
        shared=message.shared,
        consumed=each("consumed", message.consumed, _decode_capacity),
        reserved_for=tuple(message.reserved_for),
    )


def _encode_hold(hold: DeviceHold) -> pb.DeviceHold:
    return pb.DeviceHold(
        device=hold.device,
        claim=hold.claim,
        shared=hold.shared,
        consumed=map(_encode_capacity, hold.consumed),
        reserved_for=hold.reserved_for,
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
        case "common":
            return CommonValue(group=message.common)
        case _:
            raise InvalidRequest("is required", field="value")


def _encode_attribute(attribute: DeviceAttribute) -> pb.DeviceAttribute:
    match attribute.value:
        case DeviceVersion(text=text):
            return pb.DeviceAttribute(name=attribute.name, version=text)
        case CommonValue(group=group):
            return pb.DeviceAttribute(name=attribute.name, common=group)
        case bool(flag):
            return pb.DeviceAttribute(name=attribute.name, flag=flag)
        case int(number):
            return pb.DeviceAttribute(name=attribute.name, number=number)
        case str(text):
            return pb.DeviceAttribute(name=attribute.name, text=text)


def _decode_capacity(message: pb.DeviceCapacity) -> DeviceCapacity:
    require(message, "name")
    return DeviceCapacity(
        name=message.name,
        amount=within("amount", message.amount, 0),
        policy=optional(message, "policy", _decode_policy),
    )


def _encode_capacity(capacity: DeviceCapacity) -> pb.DeviceCapacity:
    policy = None if capacity.policy is None else _encode_policy(capacity.policy)
    return pb.DeviceCapacity(name=capacity.name, amount=capacity.amount, policy=policy)


def _decode_policy(message: pb.CapacityPolicy) -> CapacityPolicy:
    return CapacityPolicy(
        default=optional(message, "default_amount", int),
        valid_values=tuple(message.valid_values),
        least=optional(message, "least", int),
        most=optional(message, "most", int),
        step=optional(message, "step", lambda step: within("", step, 1)),
    )


def _encode_policy(policy: CapacityPolicy) -> pb.CapacityPolicy:
    return pb.CapacityPolicy(
        default_amount=policy.default,
        valid_values=policy.valid_values,
        least=policy.least,
        most=policy.most,
        step=policy.step,
    )


def _decode_counter_use(message: pb.CounterUse) -> CounterUse:
    require(message, "counter_set")
    return CounterUse(
        counter_set=message.counter_set, amounts=at("amounts", message.amounts, decode_resources)
    )


def _encode_counter_use(use: CounterUse) -> pb.CounterUse:
    return pb.CounterUse(counter_set=use.counter_set, amounts=encode_resources(use.amounts))
