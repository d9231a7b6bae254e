"""Latecomers: pods without a place go first in another try, which counts if it places more pods.

Apart because packing takes groups in one order and gives nothing back: large pods first, all pods
of a shape when it is the first one's turn. So the last room, limit or domain that somebody could
use may go to pods that could as well be elsewhere. With the latecomers first these mostly find
another place; who then comes too late, such as the other user of a shared claim, goes before them
once more.

Whoever has no place though nobody else is there is no latecomer, nor are those who wait for a
reservation or only ask if there is room.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.gangs import Pack, Whole, short_gangs
from services.solver.core.packing.packing import Packer
from services.solver.core.pods.workload import Group, Workload

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
    late = [*_without_place(tried), *_members(work, found.short)]
    for turn in range(1, _MOST_TRIES + 1):
        first = _helped(snapshot, work, late, pack)
        if not first:
            break
        theirs = {group.uids for group in first}
        others = (group for group in tried.problem.groups if group.uids not in theirs)
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
        if out and not group.existing_only:
            yield group.of(out)


def _helped(
    snapshot: ClusterSnapshot, work: Workload, late: Sequence[Group], pack: Pack
) -> list[Group]:
    """Return the groups that get places, gangs all that they need, where nobody else is."""
    if not 0 < len(late) <= _MOST_LATE:
        return []
    alone = pack(tuple(late))
    short = short_gangs(snapshot, work, alone)
    return [
        group
        for group, left in zip(late, alone.left, strict=True)
        if left < len(group.uids) and short.isdisjoint(group.gangs)
    ]


def _placed(packer: Packer) -> int:
    """Return how many pods have a place, but for a buffer's."""
    pairs = zip(packer.problem.groups, packer.left, strict=True)
    return sum(len(group.uids) - left for group, left in pairs if not group.virtual)
