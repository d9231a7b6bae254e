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

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.gangs import Pack, Whole, short_gangs
from services.solver.core.packing.packing import Packer
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.pods.workload import Workload

_MOST_TRIES = 2
"""How often everything is packed anew."""

_MOST_LATE = 16
"""Where more groups have no place there is too little for all of them, in whatever order."""

_MOST_TEAM = 2 * _MOST_LATE
"""Latecomers with all whom they bring along."""


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
    buying = {gang for gang in found.short if not snapshot.gangs[gang].existing_only}
    late = [*_without_place(tried), *_members(work, buying)]
    for turn in range(1, _MOST_TRIES + 1):
        first = _helped(snapshot, work, late, tried, pack)
        if not first:
            break
        theirs = frozenset(chain.from_iterable(group.uids for group in first))
        others = (group for group in tried.problem.groups if theirs.isdisjoint(group.uids))
        tried = pack((*(replace(group, late=-turn) for group in first), *others))
        if _placed(tried) > _placed(best) and not short_gangs(snapshot, work, tried):
            best = tried
        late = [group for group in _without_place(tried) if group.late >= 0]
    placed = {gang for group in best.problem.groups for gang in group.gangs}
    short = {gang: why for gang, why in found.short.items() if gang not in placed}
    return Whole(best, short, found.most)


def _without_place(packer: Packer) -> Iterator[Group]:
    """Yield the groups that lack places and do not just wait."""
    for index, group in enumerate(packer.problem.groups):
        waits = group.virtual or group.existing_only or packer.is_deferred(index)
        if packer.left[index] and not waits:
            yield group


def _members(work: Workload, gangs: Container[str]) -> Iterator[Group]:
    """Yield the pods of gangs that were left out whole."""
    for group in work.groups:
        out = [index for index, gang in enumerate(group.gangs) if gang in gangs]
        if out:
            yield group.of(out)


def _helped(
    snapshot: ClusterSnapshot, work: Workload, late: Sequence[Group], tried: Packer, pack: Pack
) -> list[Group]:
    """Return the groups that get places, gangs all that they need, where nobody else is."""
    if not 0 < len(late) <= _MOST_LATE:
        return []
    team = _with_needed(snapshot, work, late, tried)
    alone = pack(tuple(team))
    short = short_gangs(snapshot, work, alone)
    placed = [
        group
        for group, left in zip(team, alone.left, strict=True)
        if left < len(group.uids) and short.isdisjoint(group.gangs)
    ]
    helped = {group.shape.id for group in placed if group.leads is None}
    return [group for group in placed if group.leads is None or group.leads in helped]


def _with_needed(
    snapshot: ClusterSnapshot, work: Workload, late: Sequence[Group], tried: Packer
) -> list[Group]:
    """Return latecomers and, where there are not too many, those near whom they have to be."""
    found = {group.uids: group for group in late}
    looking = [(group.shape, group.shape.id) for group in late if group.shape.affinity]
    if not looking:
        return [*late]
    every = tried.problem.groups
    groups = [group for group in every if not (group.existing_only or group.virtual)]
    index = ShapeIndex((group.shape for group in groups), snapshot.namespaces, work.bound)
    while looking and len(found) < _MOST_TEAM:
        shape, follower = looking.pop()
        near = index.matching_all(shape.affinity)
        for group in groups if shape.id not in near else ():
            if group.shape.id in near and group.uids not in found and len(found) < _MOST_TEAM:
                found[group.uids] = replace(group, leads=follower)
                looking += [(group.shape, follower)] if group.shape.affinity else []
    order = {group.uids: turn for turn, group in enumerate(groups)}
    return sorted(found.values(), key=lambda group: order.get(group.uids, -1))


def _placed(packer: Packer) -> int:
    """Return how many pods have a place, but for a buffer's."""
    pairs = zip(packer.problem.groups, packer.left, strict=True)
    return sum(len(group.uids) - left for group, left in pairs if not group.virtual)
