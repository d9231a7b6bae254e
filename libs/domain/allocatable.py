"""What pods may take of an instance type under one of its offerings.

Apart because solver, checker and provider must not differ by a byte: a plan fits exactly if the
node that comes has what the plan counted on.

Source: `docs/sources.md` 7.3: an offering may override capacity and overhead, and huge pages come
out of memory.
"""

from libs.domain.capacity import InstanceType, Offering
from libs.domain.resources import HUGEPAGES, MEMORY, NOTHING, Resources


def full_capacity(kind: InstanceType, offering: Offering) -> Resources:
    """Return the capacity of the type, with what the offering overrides."""
    return kind.capacity.overlaid(offering.capacity_override)


def allocatable(kind: InstanceType, offering: Offering, observed: Resources = NOTHING) -> Resources:
    """Return what is left for pods, never below zero.

    Args:
        kind: the type.
        offering: how it is bought.
        observed: what live nodes of the type turned out to have; nothing as long as there are none.
    """
    overridden = bool(len(offering.capacity_override) or len(offering.overhead_override))
    return corrected(_estimate(kind, offering), observed, overridden=overridden)


def corrected(estimate: Resources, observed: Resources, *, overridden: bool) -> Resources:
    """Return an estimate of allocatable, put right by what live nodes have.

    What was seen counts, be it more or less. Under an override, which the nodes that were seen may
    not have had, it only lowers. Extended resources it never lowers: they are a plug-in's word, and
    a node whose plug-in is broken tells nothing of the next one.
    """
    seen = estimate.minimum(observed) if overridden else observed
    promised = {
        name: amount
        for name, amount in estimate.items()
        if "/" in name and name in seen and seen.get(name) < amount
    }
    return estimate.overlaid(seen).overlaid(Resources(promised))


def _estimate(kind: InstanceType, offering: Offering) -> Resources:
    full = full_capacity(kind, offering)
    overhead = kind.overhead.overlaid(offering.overhead_override)
    left = {name: max(amount - overhead.get(name), 0) for name, amount in full.items()}
    huge = sum(amount for name, amount in full.items() if name.startswith(HUGEPAGES))
    if huge and MEMORY in left:
        left[MEMORY] = max(left[MEMORY] - huge, 0)
    return Resources(left)
