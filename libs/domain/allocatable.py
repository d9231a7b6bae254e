"""What pods may take of an instance type under one of its offerings.

Apart because solver, checker and provider must not differ by a byte: a plan fits exactly if the
node that comes has what the plan counted on.

Source: `docs/sources.md` 7.3: an offering may override capacity and overhead, and huge pages come
out of memory.
"""

from libs.domain.capacity import InstanceType, Offering
from libs.domain.resources import HUGEPAGES, MEMORY, Resources


def full_capacity(kind: InstanceType, offering: Offering) -> Resources:
    """Return the capacity of the type, with what the offering overrides."""
    return kind.capacity.overlaid(offering.capacity_override)


def allocatable(kind: InstanceType, offering: Offering) -> Resources:
    """Return what is left for pods, never below zero."""
    full = full_capacity(kind, offering)
    overhead = kind.overhead.overlaid(offering.overhead_override)
    left = {name: max(amount - overhead.get(name), 0) for name, amount in full.items()}
    huge = sum(amount for name, amount in full.items() if name.startswith(HUGEPAGES))
    if huge and MEMORY in left:
        left[MEMORY] = max(left[MEMORY] - huge, 0)
    return Resources(left)
