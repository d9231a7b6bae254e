"""Dynamic resource allocation: what nodes offer, a pool from all its slices.

Apart from `device` because a pool is more than its slices one by one: its generation, whether it is
whole, whether it is sound.

Source: Kubernetes documentation, "Dynamic Resource Allocation"; kube-scheduler's structured
allocator of 1.36 for what makes a pool incomplete or invalid. Only whoever looks from a node can
tell whether it sees two devices of one name.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from libs.domain.device import (
    AttributeValue,
    CapacityPolicy,
    CounterUse,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceHold,
    DevicePool,
    DeviceVersion,
    named_node,
)
from libs.domain.errors import InvalidRequest
from libs.domain.quantity import floor_millicores
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.resources import Resources
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.taint import HARD_EFFECTS, Effect, Taint
from libs.kube.convert.device import NOWHERE, node_terms, reserved_for, shares, thousandths
from libs.kube.objects import device as objects
from libs.kube.objects.metadata import NodeSelector, Quantity

Terms = tuple[Requirements, ...]
_EVERYWHERE: Terms = (ANYTHING,)
_HARD = {str(effect) for effect in HARD_EFFECTS}


def device_pool(
    driver: str,
    pool: str,
    slices: Iterable[objects.ResourceSlice],
    holds: Iterable[DeviceHold] = (),
) -> DevicePool:
    """Return the pool that the slices make up; only its newest generation counts.

    Args:
        driver: of the pool.
        pool: its name.
        slices: all slices of the pool, at least one.
        holds: what claims hold of it.

    Raises:
        InvalidRequest: a bad quantity or node selector, or an attribute of an unknown kind.
    """
    if not driver or not pool:
        raise InvalidRequest("names no driver or no pool", field="spec")
    ordered = sorted(slices, key=lambda one: one.metadata.name)
    newest = max(one.spec.pool.generation for one in ordered)
    current = [one.spec for one in ordered if one.spec.pool.generation == newest]
    terms = _pool_terms(current)
    devices = [device for one in current for device in _devices(one, terms)]
    counters = [use for one in current for use in _budgets(one.shared_counters)]
    problem = _problem(devices, counters)
    held = sorted(holds, key=lambda one: (one.device, one.claim))
    name = _only_name(terms)
    return DevicePool(
        driver=driver,
        pool=pool,
        devices=() if problem else tuple(devices),
        counters=() if problem else tuple(sorted(counters, key=lambda one: one.counter_set)),
        node_name=name,
        node_terms=() if name or terms == _EVERYWHERE else terms,
        allocated=tuple(sorted({one.device for one in held if _is_for_good(one)})),
        complete=len(current) == current[0].pool.resource_slice_count,
        holds=tuple(one for one in held if not _is_for_good(one)),
        problem=problem,
    )


def device_holds(claim: objects.ResourceClaim) -> list[tuple[tuple[str, str], DeviceHold]]:
    """Return what an allocated claim holds, each with driver and pool.

    Raises:
        InvalidRequest: a bad quantity.
    """
    allocation = claim.status.allocation
    name = f"{claim.metadata.namespace}/{claim.metadata.name}"
    path = "status.allocation.devices.results"
    return [
        (
            (one.driver, one.pool),
            DeviceHold(
                device=one.device,
                claim=name,
                shared=bool(one.share_id),
                consumed=shares(one.consumed_capacity, f"{path}[{index}].consumedCapacity"),
                reserved_for=reserved_for(claim.status),
            ),
        )
        for index, one in enumerate(allocation.devices.results if allocation is not None else ())
        # Who only looks on takes nothing.
        if one.device and not one.admin_access
    ]


def _is_for_good(hold: DeviceHold) -> bool:
    return not hold.reserved_for and not hold.shared


# Where the devices are.


def _pool_terms(slices: Sequence[objects.ResourceSliceSpec]) -> Terms:
    """Return the nodes that the pool is about: those of its slices."""
    if any(one.shared_counters for one in slices):
        # The allocator looks at every pool with counters on every node.
        return _EVERYWHERE
    found: dict[Requirements, None] = {}
    for one in slices:
        if one.per_device_node_selection:
            for device in one.devices:
                found.update(dict.fromkeys(_device_terms(device)))
        else:
            found.update(dict.fromkeys(_slice_terms(one)))
    named = [terms for terms in found if terms != NOWHERE] or [NOWHERE]
    return _EVERYWHERE if ANYTHING in named else tuple(named)


def _slice_terms(spec: objects.ResourceSliceSpec) -> Terms:
    return _reach(spec.node_name, spec.node_selector, spec.all_nodes, "spec.nodeSelector")


def _device_terms(device: objects.Device) -> Terms:
    held = _held(device)
    return _reach(held.node_name, held.node_selector, held.all_nodes, f"spec.devices.{device.name}")


def _reach(name: str, selector: NodeSelector | None, everywhere: bool, path: str) -> Terms:
    if name:
        return (named_node(name),)
    if everywhere:
        return _EVERYWHERE
    return (NOWHERE,) if selector is None else node_terms(selector, path)


def _only_name(terms: Terms) -> str:
    """Return the name if all that the terms say is one node's name."""
    if len(terms) != 1 or len(terms[0]) != 1:
        return ""
    named = terms[0].get(NODE_NAME_FIELD)
    single = terms[0].single_values()
    return "" if named is None else single.get(NODE_NAME_FIELD, "")


# What they are.


def _devices(spec: objects.ResourceSliceSpec, pool_terms: Terms) -> Iterable[Device]:
    slice_terms = _slice_terms(spec)
    for index, one in enumerate(spec.devices):
        terms = _device_terms(one) if spec.per_device_node_selection else slice_terms
        yield _device(one, f"spec.devices[{index}]", () if terms == pool_terms else terms)


def _held(device: objects.Device) -> objects.Device | objects.BasicDevice:
    # Version v1beta1 nests a device's properties under the only kind that there was.
    return device.basic if device.basic is not None else device


def _device(device: objects.Device, path: str, terms: Terms) -> Device:
    held = _held(device)
    if not device.name or "" in held.attributes or "" in held.capacity:
        raise InvalidRequest("a device, attribute or capacity has no name", field=path)
    return Device(
        name=device.name,
        attributes=tuple(
            DeviceAttribute(name=name, value=_value(held.attributes[name], f"{path}.attributes"))
            for name in sorted(held.attributes)
        ),
        capacity=tuple(
            _capacity(name, held.capacity[name], f"{path}.capacity.{name}")
            for name in sorted(held.capacity)
        ),
        shared=held.allow_multiple_allocations,
        counters=tuple(_uses(held.consumes_counters, f"{path}.consumesCounters")),
        taints=tuple(
            Taint(key=one.key, value=one.value, effect=Effect(one.effect))
            for one in held.taints
            if one.key and one.effect in _HARD
        ),
        node_terms=terms,
        binds_to_node=held.binds_to_node,
        has_binding_conditions=bool(held.binding_conditions),
    )


def _value(attribute: objects.DeviceAttribute, path: str) -> AttributeValue:
    if attribute.version_value is not None:
        return DeviceVersion(text=attribute.version_value)
    for value in (attribute.bool_value, attribute.int_value, attribute.string_value):
        if value is not None:
            return value
    raise InvalidRequest("an attribute has no value", field=path)


def _capacity(name: str, given: objects.DeviceCapacity, path: str) -> DeviceCapacity:
    policy = given.request_policy
    return DeviceCapacity(
        name=name,
        amount=_offered(given.value, f"{path}.value"),
        policy=None if policy is None else _policy(policy, f"{path}.requestPolicy"),
    )


def _policy(given: objects.CapacityPolicy, path: str) -> CapacityPolicy:
    between = given.valid_range or objects.CapacityRange()
    step = _optional(between.step, f"{path}.validRange.step")
    return CapacityPolicy(
        default=_optional(given.default, f"{path}.default"),
        valid_values=tuple(thousandths(one, f"{path}.validValues") for one in given.valid_values),
        least=_optional(between.min, f"{path}.validRange.min"),
        most=_optional(between.max, f"{path}.validRange.max"),
        step=step or None,
    )


def _optional(quantity: Quantity | None, path: str) -> int | None:
    return None if quantity is None else thousandths(quantity, path)


def _offered(quantity: Quantity, path: str) -> int:
    """Return what is offered, in thousandths, rounded down."""
    thousandths(quantity, path)
    return floor_millicores(quantity)


# What they share.


def _budgets(sets: Iterable[objects.CounterSet]) -> Iterable[CounterUse]:
    for one in sets:
        if not one.name:
            raise InvalidRequest("a set of counters has no name", field="spec.sharedCounters")
        yield CounterUse(
            counter_set=one.name,
            amounts=Resources(
                {
                    name: _offered(held.value, f"spec.sharedCounters.{one.name}.{name}")
                    for name, held in one.counters.items()
                    if name
                }
            ),
        )


def _uses(sets: Iterable[objects.CounterSet], path: str) -> Iterable[CounterUse]:
    for one in sets:
        if not one.counter_set:
            raise InvalidRequest("a set of counters has no name", field=path)
        yield CounterUse(
            counter_set=one.counter_set,
            amounts=Resources(
                {
                    name: thousandths(held.value, f"{path}.{one.counter_set}.{name}")
                    for name, held in one.counters.items()
                    if name
                }
            ),
        )


def _problem(devices: Sequence[Device], counters: Sequence[CounterUse]) -> str:
    """Return why nothing may be taken from the pool; empty if it is sound."""
    if name := _twice(one.counter_set for one in counters):
        return f"counter set {name!r} is there twice"
    budgets = {one.counter_set: one.amounts for one in counters}
    for device in devices:
        for use in device.counters:
            budget = budgets.get(use.counter_set)
            if budget is None:
                return f"device {device.name!r} uses counter set {use.counter_set!r}: there is none"
            missing = sorted(set(use.amounts) - set(budget))
            if missing:
                shown = f"{use.counter_set}/{missing[0]}"
                return f"device {device.name!r} uses counter {shown!r}: there is none"
    return ""


def _twice(names: Iterable[str]) -> str:
    return next((name for name, count in sorted(Counter(names).items()) if count > 1), "")
