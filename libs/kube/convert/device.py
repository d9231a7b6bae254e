"""Dynamic resource allocation: what pods claim, what nodes offer.

Source: Kubernetes documentation, "Dynamic Resource Allocation"; `docs/sources.md` D11.
"""

from collections.abc import Iterable, Mapping

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
from libs.domain.quantity import units
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from libs.kube.convert.selectors import node_requirements
from libs.kube.objects import device as objects
from libs.kube.objects.metadata import NodeSelector, Quantity

_ALL = "All"


def device_class(given: objects.DeviceClass) -> DeviceClass:
    """Return the class."""
    return DeviceClass(name=given.metadata.name, selectors=_expressions(given.spec.selectors))


def device_claim(
    spec: objects.ResourceClaimSpec,
    *,
    claim: str = "",
    allocation: objects.AllocationResult | None = None,
) -> DeviceClaim:
    """Return the claim.

    Args:
        spec: what is asked for.
        claim: `namespace/name` of an existing claim, empty for a template.
        allocation: what the claim was given.

    Raises:
        InvalidRequest: a request that asks for nothing, or a bad quantity or selector.
    """
    allocated: tuple[Requirements, ...] = ()
    if allocation is not None:
        selector = allocation.node_selector
        allocated = node_terms(selector, "status.allocation.nodeSelector") or (Requirements(),)
    return DeviceClaim(
        claim=claim,
        requests=tuple(
            _request(one, f"spec.devices.requests[{index}]")
            for index, one in enumerate(spec.devices.requests)
        ),
        constraints=tuple(
            DeviceConstraint(match_attribute=one.match_attribute, requests=one.requests)
            for one in spec.devices.constraints
            if one.match_attribute
        ),
        allocated_terms=allocated,
    )


def device_pool(
    driver: str,
    pool: str,
    slices: Iterable[objects.ResourceSlice],
    allocated: frozenset[str] = frozenset(),
) -> DevicePool:
    """Return the pool that the slices make up; only its newest generation counts.

    Args:
        driver: of the pool.
        pool: its name.
        slices: all slices of the pool, at least one.
        allocated: names of its devices that a claim holds.

    Raises:
        InvalidRequest: a bad quantity or node selector.
    """
    if not driver or not pool:
        raise InvalidRequest("names no driver or no pool", field="spec")
    ordered = sorted(slices, key=lambda one: one.metadata.name)
    newest = max(one.spec.pool.generation for one in ordered)
    current = [one for one in ordered if one.spec.pool.generation == newest]
    first = current[0].spec
    devices = [
        _device(device, f"spec.devices[{index}]")
        for one in current
        for index, device in enumerate(one.spec.devices)
    ]
    return DevicePool(
        driver=driver,
        pool=pool,
        devices=tuple(sorted(devices, key=lambda one: one.name)),
        counters=_counters(
            (counters for one in current for counters in one.spec.shared_counters),
            "spec.sharedCounters",
        ),
        node_name=first.node_name,
        node_terms=() if first.all_nodes else node_terms(first.node_selector, "spec.nodeSelector"),
        allocated=tuple(sorted(allocated)),
        complete=len(current) == first.pool.resource_slice_count,
    )


def node_terms(selector: NodeSelector | None, path: str) -> tuple[Requirements, ...]:
    """Return the terms of a node selector, of which one must hold; empty for no selector.

    Raises:
        InvalidRequest: an expression that Kubernetes refuses.
    """
    if selector is None:
        return ()
    return tuple(
        node_requirements(
            term.match_expressions, f"{path}.nodeSelectorTerms[{index}].matchExpressions"
        )
        for index, term in enumerate(selector.node_selector_terms)
    )


def _request(request: objects.DeviceRequest, path: str) -> DeviceRequest:
    if request.first_available:
        alternatives = request.first_available
    elif request.exactly is not None:
        alternatives = (request.exactly,)
    else:
        alternatives = (
            objects.DeviceSubRequest(
                device_class_name=request.device_class_name,
                selectors=request.selectors,
                allocation_mode=request.allocation_mode,
                count=request.count,
            ),
        )
    if not request.name:
        raise InvalidRequest("has no name", field=path)
    return DeviceRequest(
        name=request.name, alternatives=tuple(_sub_request(one, path) for one in alternatives)
    )


def _sub_request(given: objects.DeviceSubRequest, path: str) -> DeviceSubRequest:
    if not given.device_class_name:
        raise InvalidRequest("names no device class", field=path)
    count = 1 if given.count is None else given.count
    if count < 1:
        raise InvalidRequest(f"{count} is below 1", field=f"{path}.count")
    return DeviceSubRequest(
        device_class=given.device_class_name,
        name=given.name,
        selectors=_expressions(given.selectors),
        count=count,
        all=given.allocation_mode == _ALL,
        capacity=_capacity(given.capacity.requests, f"{path}.capacity.requests"),
    )


def _device(device: objects.Device, path: str) -> Device:
    if not device.name or "" in device.attributes:
        raise InvalidRequest("a device or attribute has no name", field=path)
    # Version v1beta1 nests a device's properties under the only kind that there was.
    held = device.basic if device.basic is not None else device
    return Device(
        name=device.name,
        attributes=tuple(
            DeviceAttribute(name=name, value=_value(held.attributes[name], f"{path}.attributes"))
            for name in sorted(held.attributes)
        ),
        capacity=_capacity(
            {name: one.value for name, one in held.capacity.items()}, f"{path}.capacity"
        ),
        shared=device.allow_multiple_allocations,
        counters=_counters(held.consumes_counters, f"{path}.consumesCounters"),
    )


def _value(attribute: objects.DeviceAttribute, path: str) -> AttributeValue:
    if attribute.version_value is not None:
        return DeviceVersion(text=attribute.version_value)
    for value in (attribute.bool_value, attribute.int_value, attribute.string_value):
        if value is not None:
            return value
    raise InvalidRequest("an attribute has no value", field=path)


def _capacity(amounts: Mapping[str, Quantity], path: str) -> tuple[DeviceCapacity, ...]:
    parsed = _amounts(amounts, path)
    return tuple(DeviceCapacity(name=name, amount=parsed[name]) for name in sorted(parsed))


def _counters(sets: Iterable[objects.CounterSet], path: str) -> tuple[CounterUse, ...]:
    found = []
    for one in sets:
        name = one.name or one.counter_set
        if not name:
            raise InvalidRequest("a set of counters has no name", field=path)
        held = {counter: amount.value for counter, amount in one.counters.items()}
        found.append(CounterUse(counter_set=name, amounts=Resources(_amounts(held, path))))
    return tuple(sorted(found, key=lambda one: one.counter_set))


def _amounts(quantities: Mapping[str, Quantity], path: str) -> dict[str, int]:
    found = {}
    for name, text in quantities.items():
        try:
            found[name] = units(text)
        except InvalidRequest as error:
            raise error.under(f"{path}.{name}") from None
        if not name or found[name] < 0:
            raise InvalidRequest(f"{text!r} is negative or has no name", field=f"{path}.{name}")
    return found


def _expressions(selectors: Iterable[objects.DeviceSelector]) -> tuple[str, ...]:
    return tuple(one.cel.expression for one in selectors if one.cel is not None)
