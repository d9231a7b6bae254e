"""Latecomers: pods without a place go first in another try, which counts if it places more pods.

Apart because packing takes groups in one order and gives nothing back: large pods first, all pods
of a shape when it is the first one's turn. So the last room, limit or domain that somebody could
use may go to pods that could as well be elsewhere. With the latecomers first these mostly find
another place; who then comes too late, such as the other user of a shared claim, goes before them
once more. Who has to be near others brings them along, and one of these keeps away from all that
would keep the latecomer away.

Whoever has no place though nobody else is there is no latecomer, nor are those who wait for a
reservation or only ask if there is room.
"""

from dataclasses import replace
from itertools import chain

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.alone import Alone, members, without_place
from services.solver.core.packing.gangs import Pack, Whole, short_gangs
from services.solver.core.packing.priorities import is_better
from services.solver.core.pods.workload import Workload

_MOST_TRIES = 2
"""How often everything is packed anew."""

_MOST_LATE = 16
"""Where more groups have no place there is too little for all of them, in whatever order."""


def with_latecomers_first(
    snapshot: ClusterSnapshot, work: Workload, found: Whole, pack: Pack
) -> Whole:
    """Return how packing ended in the order that places most pods; in doubt as it was found.

    Args:
        snapshot: the cluster.
        work: all pods.
        found: how packing ended in the order of the queue.
        pack: packs some of their groups.
    """
    best = tried = found.packer
    late = [*without_place(tried), *members(snapshot, work, found.short)]
    for turn in range(1, _MOST_TRIES + 1):
        few = 0 < len(late) <= _MOST_LATE
        first = Alone(snapshot, work, tried, pack).helped(late) if few else []
        if not first:
            break
        theirs = frozenset(chain.from_iterable(group.uids for group in first))
        others = (group for group in tried.problem.groups if theirs.isdisjoint(group.uids))
        tried = pack((*(replace(group, late=-turn) for group in first), *others))
        if is_better(tried, best) and not short_gangs(snapshot, work, tried):
            best = tried
        late = [group for group in without_place(tried) if group.late >= 0]
    placed = {gang for group in best.problem.groups for gang in group.gangs}
    short = {gang: why for gang, why in found.short.items() if gang not in placed}
    return Whole(best, short, found.most)
