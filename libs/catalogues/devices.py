"""Devices that nodes of an instance type publish, from the slices that they will write.

Apart from the types because a catalogue file takes them over from ResourceSlices as they are:
`driver`, `pool.name`, `devices`, `sharedCounters`; what only a node knows (its name, a generation,
how many slices there are) is left out.

Source: Karpenter's `InstanceType.DynamicResources.ResourceSliceTemplates`.
"""

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from libs.domain.device import DevicePool
from libs.domain.errors import InvalidRequest
from libs.kube.convert.device_pool import device_pool
from libs.kube.objects.decoding import from_document
from libs.kube.objects.device import ResourceSlice

_FIELD = "resourceSlices"


def device_pools(entries: object) -> tuple[DevicePool, ...]:
    """Return the pools that slices make up, sorted by driver and name.

    Args:
        entries: specs of ResourceSlices, as parsed from JSON or YAML.

    Raises:
        InvalidRequest: one is no spec of a slice, or a pool of them is not sound.
    """
    if not isinstance(entries, list):
        raise InvalidRequest("a list of specs of ResourceSlices is needed", field=_FIELD)
    slices: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for index, entry in enumerate(entries):
        spec = _plain(entry)
        pool = spec.get("pool") if isinstance(spec, dict) else None
        if not isinstance(pool, Mapping):
            raise InvalidRequest("names no pool", field=f"{_FIELD}[{index}]")
        slices[str(spec.get("driver")), str(pool.get("name"))].append(spec)
    return tuple(_pool(*key, slices[key]) for key in sorted(slices))


def _pool(driver: str, name: str, specs: list[dict[str, Any]]) -> DevicePool:
    try:
        found = device_pool(
            driver, name, [_slice(spec, index, len(specs)) for index, spec in enumerate(specs)]
        )
    except InvalidRequest as error:
        raise error.under(_FIELD) from None
    if found.problem:
        raise InvalidRequest(f"pool {found.key!r}: {found.problem}", field=_FIELD)
    return found


def _slice(spec: dict[str, Any], index: int, count: int) -> ResourceSlice:
    pool = {"name": spec["pool"].get("name"), "resourceSliceCount": count}
    document = {
        "metadata": {"name": f"{index:06}"},
        "spec": {**spec, "pool": pool, "allNodes": True},
    }
    return from_document(document, ResourceSlice)


def _plain(value: Any) -> Any:
    """Return the value with numbers as Kubernetes decodes them."""
    match value:
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case list():
            return [_plain(one) for one in value]
        case Decimal():
            return int(value) if value == value.to_integral_value() else str(value)
        case _:
            return value
