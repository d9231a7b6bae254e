"""Other orders of the queue, tried where somebody is left out, each kept if it serves better.

Apart because packing takes groups in one order and gives nothing back. Large pods first leaves
fewest out in all; two things it does not see. Who is left out may have a higher priority than who
has a place, and the claim of a large pod may take the one volume that a small pod's claim needs.
"""

from collections.abc import Sequence
from dataclasses import replace

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.alone import Alone, members, without_place
from services.solver.core.packing.gangs import Pack, Whole, whole
from services.solver.core.packing.priorities import (
    by_priority,
    from_on,
    is_better,
    passed_over,
)
from services.solver.core.pods.choice import choice_of_volumes
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.workload import Workload

_MOST_ROUNDS = 3
"""How often priorities are added that who goes first passed over in turn."""


def in_best_order(snapshot: ClusterSnapshot, work: Workload, pack: Pack) -> tuple[Workload, Whole]:
    """Pack in the order of the queue, and in others where that may help somebody.

    Args:
        snapshot: the cluster.
        work: all pods.
        pack: packs some of their groups.

    Returns:
        The pods in the order that serves them best, and how packing ended in it.
    """
    work, found = _by_priority(snapshot, work, pack)
    late = (*without_place(found.packer), *members(snapshot, work, found.short))
    order = _by_volumes(Alone(snapshot, work, found.packer, pack), late) if late else None
    if order is not None:
        other = replace(work, groups=order)
        tried = whole(snapshot, other, pack)
        if is_better(tried.packer, found.packer):
            work, found = other, tried
    return work, found


def _by_priority(snapshot: ClusterSnapshot, work: Workload, pack: Pack) -> tuple[Workload, Whole]:
    """Pack with those first who are left out for a lower priority, until nobody else is."""
    queue, found = work.groups, whole(snapshot, work, pack)
    levels = frozenset[int]()
    for _ in range(_MOST_ROUNDS):
        late = (*without_place(found.packer), *members(snapshot, work, found.short))
        more = _levels(Alone(snapshot, work, found.packer, pack), late) if late else frozenset()
        if more <= levels:
            break
        levels |= more
        # As few as may do, since within a level large pods go first; then all from the lowest on.
        for told_apart in dict.fromkeys((levels, from_on(queue, min(levels)))):
            other = replace(work, groups=by_priority(queue, told_apart))
            tried = whole(snapshot, other, pack)
            if is_better(tried.packer, found.packer):
                work, found, levels = other, tried, told_apart
                break
        else:
            break
    return work, found


def _levels(alone: Alone, late: Sequence[Group]) -> frozenset[int]:
    """Return the priorities of those left out whom going first may help."""
    levels = passed_over(alone.tried, late)
    above = [group for group in late if not levels.isdisjoint(group.priorities)]
    return levels & alone.lifted(above, levels) if above else frozenset()


def _by_volumes(alone: Alone, late: Sequence[Group]) -> tuple[Group, ...] | None:
    """Return the queue by how many volumes would do; None if that could help nobody."""
    kinds = alone.snapshot.volume_kinds
    if not kinds or not alone.helped([group for group in late if group.shape.unbound_claims]):
        return None
    volumes, groups = choice_of_volumes(kinds), alone.work.groups
    found = sorted(groups, key=lambda one: (one.virtual, volumes(one.shape)))
    return None if tuple(found) == groups else tuple(found)
