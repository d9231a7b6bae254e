"""Attributes of devices whose value only the node will tell, though it is known who shares it.

Apart from the slices because a slice says what one driver publishes, and a binding goes across
drivers: a GPU and a network card on one PCIe root, say, whatever that root will be called.

Source: Karpenter's `InstanceType.DynamicResources.AttributeBindings`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from libs.domain.device import CommonValue, Device, DeviceAttribute, DevicePool
from libs.domain.errors import InvalidRequest

_FIELD = "attributeBindings"
_DeviceId = tuple[str, str, str]
"""Driver, pool, name."""


def bound(pools: Sequence[DevicePool], entries: object) -> tuple[DevicePool, ...]:
    """Return the pools with the attributes that their devices have in common.

    Bindings of one attribute that share a device are one. A value that a slice states stays.

    Args:
        pools: what the nodes of a type publish.
        entries: list of `attribute` (`domain/name`) and `devices`: two or more of `driver`, `pool`,
            `device`.

    Raises:
        InvalidRequest: an entry is none of this, or names a device that no slice has.
    """
    if not isinstance(entries, list):
        raise InvalidRequest("a list of bindings is needed", field=_FIELD)
    groups: dict[str, list[set[_DeviceId]]] = {}
    for index, entry in enumerate(entries):
        try:
            attribute, devices = _binding(entry, pools)
        except InvalidRequest as error:
            raise error.under(f"{_FIELD}[{index}]") from None
        groups[attribute] = _joined(groups.get(attribute, []), devices)
    common = {
        (device, attribute): f"{attribute}#{number}"
        for attribute, joined in groups.items()
        for number, devices in enumerate(sorted(joined, key=min))
        for device in devices
    }
    return tuple(
        replace(pool, devices=tuple(_with_common(pool, one, common) for one in pool.devices))
        for pool in pools
    )


def _binding(entry: object, pools: Iterable[DevicePool]) -> tuple[str, set[_DeviceId]]:
    if not isinstance(entry, Mapping):
        raise InvalidRequest("an object is needed", field="")
    attribute, devices = entry.get("attribute"), entry.get("devices")
    if not isinstance(attribute, str) or not all(attribute.partition("/")):
        raise InvalidRequest("a name with its domain is needed: domain/name", field="attribute")
    if not isinstance(devices, list) or not all(isinstance(one, Mapping) for one in devices):
        raise InvalidRequest("a list of driver, pool and device is needed", field="devices")
    known = {(pool.driver, pool.pool, one.name) for pool in pools for one in pool.devices}
    found = {_device(one, known, f"devices[{index}]") for index, one in enumerate(devices)}
    if len(found) < 2:
        raise InvalidRequest("two devices at least are needed", field="devices")
    return attribute, found


def _device(entry: Mapping[str, Any], known: set[_DeviceId], field: str) -> _DeviceId:
    device = str(entry.get("driver")), str(entry.get("pool")), str(entry.get("device"))
    if device not in known:
        raise InvalidRequest(f"no slice of the type has device {'/'.join(device)!r}", field=field)
    return device


def _joined(groups: Iterable[set[_DeviceId]], more: set[_DeviceId]) -> list[set[_DeviceId]]:
    apart = []
    for group in groups:
        if group.isdisjoint(more):
            apart.append(group)
        else:
            more = more | group
    return [*apart, more]


def _with_common(
    pool: DevicePool, device: Device, common: Mapping[tuple[_DeviceId, str], str]
) -> Device:
    there = {
        one.name if "/" in one.name else f"{pool.driver}/{one.name}" for one in device.attributes
    }
    found = [
        DeviceAttribute(name=attribute, value=CommonValue(group=group))
        for (bound_device, attribute), group in common.items()
        if bound_device == (pool.driver, pool.pool, device.name) and attribute not in there
    ]
    attributes = sorted((*device.attributes, *found), key=lambda one: one.name)
    return replace(device, attributes=tuple(attributes)) if found else device
