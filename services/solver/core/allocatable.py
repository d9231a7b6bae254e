"""What pods may take of an instance type, with or without an offering's overrides.

Source: `reference/karpenter-api.md` 7.3: capacity less overhead; huge pages come out of memory.
"""

from libs.domain.capacity import InstanceType, Offering
from libs.domain.resources import MEMORY, Resources

_HUGEPAGES = "hugepages-"


def capacity(kind: InstanceType, offering: Offering | None) -> Resources:
    """Return the full resources of the type, overridden by what the offering says."""
    if offering is None or not len(offering.capacity_override):
        return kind.capacity
    return Resources(dict(kind.capacity.items()) | dict(offering.capacity_override.items()))


def allocatable(kind: InstanceType, offering: Offering | None) -> Resources:
    """Return what is left for pods, never below zero."""
    full = capacity(kind, offering)
    overhead = dict(kind.overhead.items())
    if offering is not None:
        overhead |= dict(offering.overhead_override.items())
    left = {name: max(amount - overhead.get(name, 0), 0) for name, amount in full.items()}
    huge = sum(amount for name, amount in full.items() if name.startswith(_HUGEPAGES))
    if huge and MEMORY in left:
        left[MEMORY] = max(left[MEMORY] - huge, 0)
    return Resources(left)
