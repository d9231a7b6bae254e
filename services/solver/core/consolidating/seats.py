"""Seats: which pods went to which bin, once packing is done."""

from dataclasses import dataclass

from services.solver.core.packing.packing import Packer
from services.solver.core.pods.grouping import Group


@dataclass(frozen=True, slots=True)
class Seats:
    """Pods of one group on one bin; standing bins come first, then claims."""

    group: Group
    bin: int
    uids: tuple[str, ...]


def seats(packer: Packer) -> tuple[Seats, ...]:
    """Return who went where, in the order of the placements."""
    groups = packer.groups
    taken = [0] * len(groups)
    found = []
    for one in packer.bins.placements:
        first = taken[one.group]
        taken[one.group] += one.size
        group = groups[one.group]
        found.append(Seats(group, one.bin, group.uids[first : taken[one.group]]))
    return tuple(found)
