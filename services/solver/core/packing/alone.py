"""Alone: who of those without a place would have one if nobody else were there.

Apart because every other order of the queue is tried for their sake alone: whoever has no place
even then is helped by none.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.gangs import Pack, short_gangs
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.priorities import by_priority, without_places
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.pods.workload import Workload

_MOST_BROUGHT = 16
"""How many groups are brought along at most."""

_MOST_ROUNDS = 4
"""How often those that are alone are packed, each time without gangs that came out short."""


def without_place(packer: Packer) -> Iterator[Group]:
    """Yield the groups that lack places and do not just wait."""
    for index, group in enumerate(packer.problem.groups):
        waits = group.virtual or group.existing_only or packer.is_deferred(index)
        if packer.left[index] and not waits:
            yield group


def members(snapshot: ClusterSnapshot, work: Workload, short: Container[str]) -> Iterator[Group]:
    """Yield the pods of gangs that were left out whole, but for those that only ask."""
    for group in work.groups:
        out = [
            index
            for index, gang in enumerate(group.gangs)
            if gang in short and not snapshot.gangs[gang].existing_only
        ]
        if out:
            yield group.of(out)


@dataclass(frozen=True, slots=True)
class Alone:
    """Tries groups without all others."""

    snapshot: ClusterSnapshot
    work: Workload
    tried: Packer
    """How packing ended without places for them."""
    pack: Pack

    def helped(self, late: Sequence[Group]) -> list[Group]:
        """Return the groups that get more places alone, gangs all that they need.

        Before these come those near whom they have to be, each of which leads one of them.
        """
        lacking = {
            group.uids: left
            for group, left in zip(self.tried.problem.groups, self.tried.left, strict=True)
        }

        def turn(group: Group) -> tuple[int, bool]:
            # Who has some places may be what keeps those out that have none.
            some = lacking.get(group.uids, len(group.uids)) < len(group.uids)
            return -max(group.priorities), some

        late = sorted(late, key=turn)
        team = self._with_needed(late)
        if not team:
            return []
        there = self._places(team)
        helped = [
            group
            for group in team
            if sum(uid not in there for uid in group.uids)
            < ((group.leads is None and lacking.get(group.uids)) or len(group.uids))
        ]
        found = {group.shape.id for group in helped if group.leads is None}
        return [group for group in helped if group.leads is None or group.leads in found]

    def lifted(self, late: Sequence[Group], levels: frozenset[int]) -> frozenset[int]:
        """Return the priorities of pods without a place that get one where they go by priority.

        Args:
            late: their groups.
            levels: the priorities that are told apart.
        """
        there = self._places(by_priority(self._with_needed(late), levels))
        lacking = without_places(self.tried, late)
        return frozenset(priority for uid, priority in lacking.items() if uid in there)

    def _places(self, groups: Sequence[Group]) -> frozenset[str]:
        """Return the uids of the pods that get places alone, gangs all that they need."""
        out = frozenset[str]()
        for _ in range(_MOST_ROUNDS):
            alone = self.pack(tuple(_without(groups, out)))
            short = short_gangs(self.snapshot, self.work, alone)
            there = dict(_places(alone))
            # What these take others may need.
            in_vain = short.intersection(there.values())
            if not in_vain:
                break
            out |= in_vain
        return frozenset(uid for uid, gang in there.items() if gang not in short)

    def _with_needed(self, late: Sequence[Group]) -> list[Group]:
        """Return the groups and, but for too many, those near whom they have to be."""
        found = {group.uids: group for group in late}
        looking = [(group.shape, group.shape.id) for group in late if group.shape.affinity]
        if not looking:
            return [*late]
        every = self.tried.problem.groups
        groups = [group for group in every if not (group.existing_only or group.virtual)]
        shapes = (group.shape for group in groups)
        index = ShapeIndex(shapes, self.snapshot.namespaces, self.work.bound)
        most = len(late) + _MOST_BROUGHT
        while looking and len(found) < most:
            shape, follower = looking.pop()
            near = index.matching_all(shape.affinity)
            for group in groups if shape.id not in near else ():
                if group.shape.id in near and group.uids not in found and len(found) < most:
                    found[group.uids] = replace(group, leads=follower)
                    looking += [(group.shape, follower)] if group.shape.affinity else []
        order = {group.uids: turn for turn, group in enumerate(groups)}
        return sorted(found.values(), key=lambda group: order.get(group.uids, -1))


def _places(packer: Packer) -> Iterator[tuple[str, str]]:
    """Yield the uids of the pods that have places, each with its gang."""
    for group, left in zip(packer.groups, packer.left, strict=True):
        yield from zip(group.uids[: len(group.uids) - left], group.gangs, strict=False)


def _without(groups: Sequence[Group], gangs: frozenset[str]) -> Iterator[Group]:
    """Yield the groups without the pods of some gangs."""
    for group in groups:
        kept = [index for index, gang in enumerate(group.gangs) if gang not in gangs]
        if kept:
            yield group.of(kept) if len(kept) < len(group.uids) else group
