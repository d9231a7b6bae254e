"""A catalogue from a file in the schema of Karpenter's KWOK instance types (a JSON array).

Source: `docs/sources.md` 8.2. Keys of an offering are matched whatever their case, `Available` is
ignored, as KWOK does. Where KWOK takes an offering without zone or capacity type, which nothing can
ever buy, we refuse it by name. Beyond the schema a type may have `resourceSlices`: the devices that
its nodes will publish, and `attributeBindings`: which of these share a value that only they tell.
"""

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from libs.catalogues import kwok
from libs.catalogues.attribute_bindings import bound
from libs.catalogues.devices import device_pools
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType, Offering
from libs.domain.errors import InvalidRequest
from libs.domain.requirement import Entry, Operator
from libs.domain.requirements import Requirements
from libs.domain.resources import PODS, Resources

_DEFAULT_PODS = 110
_NANOS = Decimal(1_000_000_000)
_HIGHEST_PRICE = Decimal(1_000_000)


def parse(document: bytes) -> tuple[InstanceType, ...]:
    """Return the instance types of a JSON document, sorted by name.

    Raises:
        InvalidRequest: the document is not a catalogue; the field path begins with the index.
    """
    try:
        entries = json.loads(document, parse_float=Decimal, parse_int=Decimal)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"not JSON: {error}") from None
    if not isinstance(entries, list):
        raise InvalidRequest("a catalogue is a JSON array of instance types")
    types: dict[str, InstanceType] = {}
    for index, entry in enumerate(entries):
        try:
            kind = _instance_type(_mapping(entry))
            if kind.name in types:
                raise InvalidRequest(f'instance type "{kind.name}" comes twice', field="name")
        except InvalidRequest as error:
            raise error.under(f"[{index}]") from None
        types[kind.name] = kind
    return tuple(types[name] for name in sorted(types))


def _instance_type(entry: Mapping[str, Any]) -> InstanceType:
    name = _text(entry, "name")
    arch = _text(entry, "architecture")
    systems = entry.get("operatingSystems")
    if not isinstance(systems, list) or not systems or not all(isinstance(s, str) for s in systems):
        raise InvalidRequest("a list of operating systems is needed", field="operatingSystems")
    quantities = _mapping(entry.get("resources"), "resources")
    capacity = Resources.from_allocatable(
        {PODS: _DEFAULT_PODS} | {key: _plain(value) for key, value in quantities.items()},
        field="resources",
    )
    offerings = _offerings(entry.get("offerings"))
    requirements = kwok.type_requirements(
        name=name, arch=arch, systems=systems, capacity=capacity, offerings=offerings
    )
    return InstanceType(
        name=name,
        requirements=requirements,
        capacity=capacity,
        overhead=kwok.OVERHEAD,
        offerings=offerings,
        device_pools=bound(
            device_pools(entry.get("resourceSlices", [])), entry.get("attributeBindings", [])
        ),
    )


def _offerings(entries: object) -> tuple[Offering, ...]:
    if not isinstance(entries, list) or not entries:
        raise InvalidRequest("a list of offerings, one at least, is needed", field="offerings")
    found = []
    for index, entry in enumerate(entries):
        try:
            found.append(_offering({key.lower(): v for key, v in _mapping(entry).items()}))
        except InvalidRequest as error:
            raise error.under(f"offerings[{index}]") from None
    return tuple(sorted(found, key=lambda one: (one.zone, one.capacity_type, one.reservation_id)))


def _offering(entry: Mapping[str, Any]) -> Offering:
    requirements = _requirements(entry.get("requirements") or [])
    return Offering(
        zone=_single(requirements, keys.ZONE),
        capacity_type=_single(requirements, keys.CAPACITY_TYPE),
        price_nanos_per_hour=_price(entry.get("price")),
        requirements=requirements,
        reservation_capacity=int(
            _number(entry.get("reservationcapacity", 0), "ReservationCapacity")
        ),
        capacity_override=Resources(),
        overhead_override=Resources(),
    )


def _requirements(entries: object) -> Requirements:
    if not isinstance(entries, list):
        raise InvalidRequest("a list is needed", field="Requirements")
    parsed = []
    for index, raw in enumerate(entries):
        item = {
            key.lower(): value for key, value in _mapping(raw, f"Requirements[{index}]").items()
        }
        values = item.get("values") or []
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise InvalidRequest(
                "a list of strings is needed", field=f"Requirements[{index}].values"
            )
        key, operator = item.get("key"), item.get("operator")
        if not isinstance(key, str) or operator not in list(Operator):
            raise InvalidRequest(
                "needs a key and an operator such as In", field=f"Requirements[{index}]"
            )
        parsed.append(Entry(key=key, operator=Operator(operator), values=tuple(values)))
    try:
        return Requirements.of(parsed)
    except InvalidRequest as error:
        raise error.under("Requirements") from None


def _single(requirements: Requirements, key: str) -> str:
    requirement = requirements.get(key)
    if (
        requirement is None
        or requirement.operator is not Operator.IN
        or len(requirement.values) != 1
    ):
        raise InvalidRequest(f"one value of {key} is needed (operator In)", field="Requirements")
    return next(iter(requirement.values))


def _price(value: object) -> int:
    price = _number(value, "Price")
    if not 0 <= price <= _HIGHEST_PRICE:
        raise InvalidRequest(f"{price} is not a price in dollars per hour", field="Price")
    return int((price * _NANOS).to_integral_value())


def _number(value: object, field: str) -> Decimal:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    try:
        return (
            Decimal(value)
            if isinstance(value, int) and not isinstance(value, bool)
            else Decimal("x")
        )
    except InvalidOperation:
        raise InvalidRequest(f"{value!r} is not a number", field=field) from None


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field)
    if not isinstance(value, str) or not value:
        raise InvalidRequest("a text is needed", field=field)
    return value


def _mapping(value: object, field: str = "") -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest("an object is needed", field=field)
    return value


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Decimal) else value
