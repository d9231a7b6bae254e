"""What selectors and constraints read of a device: driver, attributes, capacity.

An attribute's name without a domain is the driver's.

Source: the API documentation of `CELDeviceSelector` and `DeviceConstraint`.
"""

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from libs.cel import semver
from libs.cel.program import Program, compile_expression
from libs.cel.values import CelError, OpenMap, Quantity
from libs.domain.errors import InvalidRequest
from libs.domain.quantity import parse
from libs.oracle.devices.inventory import Device
from libs.oracle.objects import KubeObject

_KINDS = ("int", "bool", "string", "version")


def attribute_of(device: Device, name: str) -> tuple[str, Any] | None:
    """Return kind and value of an attribute by its full name, None if the device lacks it."""
    attributes = device.obj.get("attributes") or {}
    found = attributes.get(name)
    domain, _, own = name.partition("/")
    if found is None and domain == device.id.driver:
        found = attributes.get(own)
    if found is None:
        return None
    return next((kind, found[kind]) for kind in _KINDS if kind in found)


def is_selected(device: Device, selectors: tuple[str, ...]) -> bool:
    """Tell whether all CEL expressions hold for the device.

    Raises:
        InvalidRequest: one is no CEL, or has no value, or one that is no boolean, for this device.
    """
    if not selectors:
        return True
    try:
        view = {"device": _view(device)}
        for expression in selectors:
            value = _compiled(expression).evaluate(view)
            if not isinstance(value, bool):
                raise InvalidRequest("CEL result could not be converted to bool")
            if not value:
                return False
    except CelError as error:
        raise InvalidRequest(f"CEL runtime error: {error}") from error
    return True


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Program:
    return compile_expression(expression, frozenset({"device"}))


def _view(device: Device) -> dict[str, Any]:
    driver = device.id.driver
    return {
        "driver": driver,
        "allowMultipleAllocations": device.shared,
        "attributes": _by_domain(
            driver, {key: _value(one) for key, one in (device.obj.get("attributes") or {}).items()}
        ),
        "capacity": _by_domain(
            driver,
            {
                key: Quantity(number=_decimal(one["value"]))
                for key, one in (device.obj.get("capacity") or {}).items()
            },
        ),
    }


def _by_domain(driver: str, values: Mapping[str, Any]) -> OpenMap:
    domains: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        domain, separator, own = name.partition("/")
        if not separator:
            domain, own = driver, name
        domains.setdefault(domain, {})[own] = value
    return OpenMap(items=domains)


def _value(attribute: KubeObject) -> Any:
    if "version" in attribute:
        return semver.parse(attribute["version"])
    return next(attribute[kind] for kind in _KINDS if kind in attribute)


def _decimal(amount: Any) -> Decimal:
    exact = parse(amount)
    return Decimal(exact.numerator) / Decimal(exact.denominator)
