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
from services.solver.core.packing.priorities import by_priority, is_better, passed_over
from services.solver.core.pods.choice import choice_of_volumes
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.workload import Workload


def in_best_order(snapshot: ClusterSnapshot, work: Workload, pack: Pack) -> tuple[Workload, Whole]:
    """Pack in the order of the queue, and in others where that may help somebody.

    Args:
        snapshot: the cluster.
        work: all pods.
        pack: packs some of their groups.

    Returns:
        The pods in the order that serves them best, and how packing ended in it.
    """
    found = whole(snapshot, work, pack)
    for wanted in (_by_priority, _by_volumes):
        late = (*without_place(found.packer), *members(snapshot, work, found.short))
        order = wanted(Alone(snapshot, work, found.packer, pack), late) if late else None
        if order is None:
            continue
        other = replace(work, groups=order)
        tried = whole(snapshot, other, pack)
        if is_better(tried.packer, found.packer):
            work, found = other, tried
    return work, found


def _by_priority(alone: Alone, late: Sequence[Group]) -> tuple[Group, ...] | None:
    """Return the queue by priority; None if that could help nobody."""
    levels = passed_over(alone.tried, late)
    above = [group for group in late if not levels.isdisjoint(group.priorities)]
    levels = passed_over(alone.tried, alone.helped(above)) if above else frozenset()
    return by_priority(alone.work.groups, levels) if levels else None


def _by_volumes(alone: Alone, late: Sequence[Group]) -> tuple[Group, ...] | None:
    """Return the queue by how many volumes would do; None if that could help nobody."""
    kinds = alone.snapshot.volume_kinds
    if not kinds or not alone.helped([group for group in late if group.shape.unbound_claims]):
        return None
    volumes, groups = choice_of_volumes(kinds), alone.work.groups
    found = sorted(groups, key=lambda one: (one.virtual, volumes(one.shape)))
    return None if tuple(found) == groups else tuple(found)
