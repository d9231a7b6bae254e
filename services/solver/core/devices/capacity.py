"""How much of a shared device's capacity a request takes.

Apart because it is arithmetic alone. Amounts are in thousandths of the base unit.

Source: API `resource.k8s.io/v1`, `CapacityRequestPolicy`; kube-scheduler's allocator, which counts
steps in whole units.
"""

from collections.abc import Mapping

from libs.domain.device import CapacityPolicy, Device, DeviceCapacity

_UNIT = 1000


def taken(device: Device, asked: Mapping[str, int]) -> dict[str, int] | None:
    """Return what a request takes of each dimension; None where the device does not share it so.

    Args:
        device: the device.
        asked: amounts by dimension; for what is not named the device's policy decides.
    """
    dimensions = {one.name for one in device.capacity}
    if not dimensions.issuperset(asked):
        return None
    found = {}
    for one in device.capacity:
        amount = _amount(one, asked.get(one.name))
        if one.policy is not None and not _is_valid(amount, one.policy):
            return None
        found[one.name] = amount
    return found


def _amount(capacity: DeviceCapacity, asked: int | None) -> int:
    policy = capacity.policy or CapacityPolicy()
    if asked is None:
        return capacity.amount if policy.default is None else policy.default
    if policy.least is not None:
        return _stepped(asked, policy.least, policy.step)
    return next((value for value in policy.valid_values if value >= asked), asked)


def _stepped(asked: int, least: int, step: int | None) -> int:
    if asked < least:
        return least
    if step is None:
        return asked
    start, size = _whole(least), _whole(step)
    steps = -((start - _whole(asked)) // size)
    return (start + size * steps) * _UNIT


def _is_valid(amount: int, policy: CapacityPolicy) -> bool:
    if amount == policy.default:
        return True
    if policy.least is not None:
        if policy.most is not None and amount > policy.most:
            return False
        return (
            policy.step is None
            or (_whole(amount) - _whole(policy.least)) % _whole(policy.step) == 0
        )
    return not policy.valid_values or amount in policy.valid_values


def _whole(amount: int) -> int:
    """Return the amount in base units, rounded up."""
    return -(-amount // _UNIT)
