"""How much of a device's capacity a request consumes.

A device that may be shared is given out in parts: what is asked for, rounded up to what the
device's policy allows; what is not asked for, by the policy's default or whole.

Source: KEP-5075; the API documentation of `CapacityRequestPolicy`.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from libs.domain.quantity import parse
from libs.oracle.devices.inventory import Device
from libs.oracle.objects import KubeObject

Capacities = Mapping[str, Fraction]


def consumed_by(device: Device, asked: Mapping[str, Any]) -> dict[str, Fraction] | None:
    """Return what the request takes of each capacity of the device.

    Returns:
        None if the device cannot serve it: it lacks a capacity, or its policy forbids the amount.
    """
    capacities = device.obj.get("capacity") or {}
    if not asked.keys() <= capacities.keys():
        return None
    taken = {}
    for name, capacity in capacities.items():
        policy = capacity.get("requestPolicy") or {}
        if name in asked:
            amount = _rounded(parse(asked[name]), policy)
        else:
            amount = parse(policy.get("default") or capacity["value"])
        if not _allowed(amount, policy):
            return None
        taken[name] = amount
    return taken


def fits(device: Device, taken: Capacities, used: Capacities) -> bool:
    """Tell whether the device has so much left of every capacity."""
    capacities = device.obj.get("capacity") or {}
    return all(
        used.get(name, Fraction(0)) + amount <= parse(capacities[name]["value"])
        for name, amount in taken.items()
    )


def _rounded(amount: Fraction, policy: KubeObject) -> Fraction:
    allowed = policy.get("validRange") or {}
    if allowed.get("min") is not None:
        least = parse(allowed["min"])
        if amount < least or allowed.get("step") is None:
            return max(amount, least)
        step = parse(allowed["step"])
        return least + step * -((least - amount) // step)
    values = sorted(map(parse, policy.get("validValues") or ()))
    return next((value for value in values if amount <= value), amount)


def _allowed(amount: Fraction, policy: KubeObject) -> bool:
    if policy.get("default") is not None and amount == parse(policy["default"]):
        return True
    if allowed := policy.get("validRange"):
        if allowed.get("max") is not None and amount > parse(allowed["max"]):
            return False
        if allowed.get("step") is None:
            return True
        return (amount - parse(allowed.get("min") or 0)) % parse(allowed["step"]) == 0
    values = policy.get("validValues") or ()
    return not values or amount in map(parse, values)
