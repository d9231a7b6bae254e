"""From the short form of an instance type to the type, every field of which can be said."""

from collections.abc import Iterable, Mapping
from typing import Any

from libs.catalogues import kwok
from libs.catalogues.attribute_bindings import bound
from libs.catalogues.devices import device_pools
from libs.domain import labels as keys
from libs.domain.capacity import InstanceType, Offering
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import Resources
from tests.scenarios.device_form import device_id, slice_spec
from tests.scenarios.words import canonical, checked

RESERVATION = "example.com/reservation"
"""Label of a reserved offering: the id of its reservation."""

_TYPE = {
    *("name", "cpu", "memory", "pods", "resources", "overhead", "arch", "os", "labels"),
    *("zones", "capacityTypes", "price", "offerings"),
    *("slices", "attributeBindings"),
}
_OFFERING = {
    *("zone", "capacityType", "price", "available", "reservation"),
    *("capacity", "overhead", "labels"),
}


def instance_types(entries: Iterable[Mapping[str, Any]]) -> tuple[InstanceType, ...]:
    """Return the types, sorted by name."""
    return tuple(sorted(map(_type, entries), key=lambda kind: kind.name))


def _type(short: Mapping[str, Any]) -> InstanceType:
    """Return a type: on demand in three zones, at a price that grows with its size, by default."""
    checked(short, _TYPE)
    amounts = {"cpu": short["cpu"], "memory": short["memory"], "pods": short.get("pods", 110)}
    capacity = Resources.from_allocatable(_texts(amounts | short.get("resources", {})))
    offerings = tuple(
        sorted(
            (_offering(one, short) for one in short.get("offerings", _every_zone(short))),
            key=lambda one: (one.zone, one.capacity_type, one.reservation_id),
        )
    )
    requirements = kwok.type_requirements(
        name=short["name"],
        arch=short.get("arch", "amd64"),
        systems=_many(short.get("os", "linux")),
        capacity=capacity,
        offerings=offerings,
    )
    return InstanceType(
        name=short["name"],
        requirements=Requirements([*requirements, *_labels(short)]),
        capacity=capacity,
        overhead=Resources.from_requests(_texts(short.get("overhead", {}))),
        offerings=offerings,
        device_pools=bound(
            device_pools([slice_spec(one, short["name"]) for one in short.get("slices", ())]),
            [_binding(one) for one in short.get("attributeBindings", ())],
        ),
    )


def _binding(short: Mapping[str, Any]) -> dict[str, Any]:
    return {**short, "devices": [device_id(one) for one in short["devices"]]}


def _every_zone(short: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"zone": zone, "capacityType": kind}
        for zone in short.get("zones", ["zone-a", "zone-b", "zone-c"])
        for kind in short.get("capacityTypes", ["on-demand"])
    ]


def _offering(short: Mapping[str, Any], kind: Mapping[str, Any]) -> Offering:
    checked(short, _OFFERING)
    capacity_type = short.get("capacityType", "reserved" if "reservation" in short else "on-demand")
    price = short.get("price", kind.get("price", float(kind["cpu"]) / 10))
    if isinstance(price, Mapping):
        price = price[capacity_type]
    reservation = short.get("reservation", {})
    labels = {keys.ZONE: short["zone"], keys.CAPACITY_TYPE: capacity_type}
    if reservation:
        labels[RESERVATION] = reservation["id"]
    return Offering(
        zone=short["zone"],
        capacity_type=capacity_type,
        price_nanos_per_hour=round(price * 10**9),
        available=short.get("available", True),
        requirements=Requirements([*Requirements.from_labels(labels), *_labels(short)]),
        reservation_id=reservation.get("id", ""),
        reservation_capacity=reservation.get("capacity", 0),
        capacity_override=Resources.from_allocatable(_texts(short.get("capacity", {}))),
        overhead_override=Resources.from_requests(_texts(short.get("overhead", {}))),
    )


def _labels(short: Mapping[str, Any]) -> list[Requirement]:
    return [
        Requirement.of(canonical(key), Operator.IN, _many(values))
        for key, values in short.get("labels", {}).items()
    ]


def _many(values: Any) -> tuple[str, ...]:
    return tuple(str(one) for one in (values if isinstance(values, list) else [values]))


def _texts(amounts: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in amounts.items()}
