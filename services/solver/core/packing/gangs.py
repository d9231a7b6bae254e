"""Gangs: pods that get places together or not at all.

A gang that comes out short is taken out whole and everything is packed anew, since its members
held room that others may need; with it go those whose pods would be near nobody then. Where that
takes long, ever more gangs are given up, last ones first, so that the number of packings is bounded
however gangs depend on each other. Gangs that were out together may have kept each other out, and
large pods of a gang the small ones: so each is tried once without the others, and with its pods in
other orders. What is left then is offered to those still out. The largest number of its pods that
had places in any of that is what is told. Members that run already count.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import SetAside
from services.solver.core.packing.gang_needs import GangNeeds
from services.solver.core.packing.gang_orders import Members, Most, members, orders, smallest_first
from services.solver.core.packing.packing import Packer
from services.solver.core.pods.grouping import Group
from services.solver.core.pods.workload import Workload

_MOST_ROUNDS = 16
"""How often everything is packed anew before gangs are given up that are not short themselves."""

_MOST_OFFERS = 8
"""How often everything is packed anew to try one more gang, and to offer what is left to one."""

_MOST_ORDERS = 16
"""How often everything is packed anew to try gangs with their pods in other orders."""

_MOST_NAMED = 3

_GIVEN_UP = "it waits for the next plan, since too many gangs here depend on each other"

Pack = Callable[[tuple[Group, ...]], Packer]
"""Packs groups and returns how it ended."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A packing in which every gang has all its places or none."""

    packer: Packer
    short: Mapping[str, str]
    """What to say about gangs without places."""
    most: Mapping[str, Most]
    """How many pods of such a gang could have places, as far as that was tried."""


def whole(snapshot: ClusterSnapshot, work: Workload, pack: Pack) -> Whole:
    """Pack until no gang is short of places.

    Args:
        snapshot: the cluster.
        work: all pods.
        pack: packs some of their groups.
    """
    least = {key: gang.min_members for key, gang in snapshot.gangs.items()}
    packer, out, given_up = _shrunk(snapshot, work, pack, least)
    trials = _Trials(work, pack, least, out, alone=len(out) == 1)
    for gang in _queue(work, out)[:_MOST_OFFERS]:
        packer = trials.put_back(gang) or packer
    for gang in trials.offers():
        packer = trials.offer(gang) or packer
        given_up.discard(gang)
    return Whole(
        packer,
        {
            gang: short_message(work, gang, least[gang], None if gang in given_up else size)
            for gang, size in sorted(out.items())
            if gang not in trials.late
        },
        {gang: Most(out[gang], pods) for gang, pods in trials.best.items() if gang in out},
    )


def short_gangs(snapshot: ClusterSnapshot, work: Workload, packer: Packer) -> frozenset[str]:
    """Return the gangs that were packed and have too few places."""
    least = {key: gang.min_members for key, gang in snapshot.gangs.items()}
    return frozenset(_short(_sizes(work, packer), least))


def short_message(work: Workload, gang: str, least: int, size: int | None) -> str:
    """Return what to say of a gang without places.

    Args:
        work: all pods.
        gang: its key.
        least: how many pods have to have places together.
        size: how many have at most; None where nobody knows.
    """
    waiting = sum(group.gangs.count(gang) for group in work.groups)
    missing = least - waiting - work.gang_members.get(gang, 0)
    more = _missing(missing, work.gang_held.get(gang, ()), work.gang_aside.get(gang, ()))
    together = "1 pod placed" if least == 1 else f"{least} pods placed together"
    have = "has" if size == 1 else "have"
    why = _GIVEN_UP if size is None else f"at most {size} {have} a place"
    return f"gang {gang} needs {together}; {more}{why}"


def _missing(missing: int, held: Sequence[str], aside: Sequence[SetAside]) -> str:
    """Say which of the pods that a gang needs are not among those that can be placed."""
    if missing <= 0:
        return ""
    told = []
    if held:
        verb = "does" if len(held) == 1 else "do"
        told.append(f"{_names(held)} {verb} not wait for a node yet: gated, ending or just made")
    if aside:
        first = aside[0]
        why = f"{first.field}: {first.message}" if first.field else first.message
        alone = len(aside) == 1
        told.append(
            f"{_names([one.name for one in aside])} {'is' if alone else 'are'} set aside: "
            f"{why if alone else f'{first.name} for {why}'}"
        )
    if (absent := missing - len(held) - len(aside)) > 0:
        told.append(f"{absent} of them {'does' if absent == 1 else 'do'} not exist")
    return "; ".join((*told, ""))


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


@dataclass(slots=True)
class _Trials:
    """Gangs without places, tried one by one: who gets some stays, for all that are tried later."""

    work: Workload
    pack: Pack
    least: Mapping[str, int]
    out: dict[str, int]
    """Gangs without places, late ones included, and how many of their pods had some at most."""
    alone: bool
    """Whether it was only the one gang that was short."""
    own: dict[str, Members] = field(default_factory=dict)
    """Pods of gangs that have places because they go in an order of their own."""
    late: dict[str, Members] = field(default_factory=dict)
    """Pods of gangs that get what the queue leaves."""
    best: dict[str, Members] = field(default_factory=dict)
    """Pods of gangs in the order in which most had places."""
    left: int = _MOST_ORDERS

    def put_back(self, gang: str) -> Packer | None:
        """Try a gang without the others that are out, in its turn; None if it stays out."""
        usual = members(self.work.groups, gang)
        if not self.alone:
            self.out[gang] = self.work.gang_members.get(gang, 0)
            if found := self._in_queue(gang, usual):
                return found
        return self._in_other_orders(gang, usual, self._in_queue)

    def offers(self) -> Iterator[str]:
        """Yield gangs in the order of the queue, again and again while one of them gets places."""
        queue = _queue(self.work, self.out)
        offers = 0
        while queue:
            before = len(self.late)
            for gang in list(queue):
                if offers == _MOST_OFFERS:
                    return
                offers += 1
                yield gang
                if gang in self.late:
                    queue.remove(gang)
            if len(self.late) == before:
                return

    def offer(self, gang: str) -> Packer | None:
        """Offer a gang what all others leave; None if that is too little."""
        usual = members(self.work.groups, gang)
        found = self._left_over(gang, usual)
        return found or self._in_other_orders(gang, usual, self._left_over)

    def _in_other_orders(
        self, gang: str, usual: Members, tried: Callable[[str, Members], Packer | None]
    ) -> Packer | None:
        """Try a gang in other orders until it has places, or as small as it would have some."""
        running = self.work.gang_members.get(gang, 0)
        waiting = sum(len(group.uids) for group in usual)
        needed = min(self.least[gang] - running, waiting)
        if len(usual) < 2 or self.out[gang] - running >= waiting:
            return None
        for order in orders(usual, needed):
            if self.left <= 0:
                return None
            self.left -= 1
            if found := tried(gang, order):
                return found
        least, most = self.out[gang] - running, needed
        while most - least > 1 and self.left > 0:
            self.left -= 1
            middle = (least + most) // 2
            if found := tried(gang, smallest_first(usual, middle)):
                return found
            size = self.out[gang] - running
            least, most = (max(size, middle), most) if size >= middle else (least, middle)
        return None

    def _in_queue(self, gang: str, pods: Members) -> Packer | None:
        found = self._packed(frozenset(self.out) - {gang}, {**self.own, gang: pods}, {})
        if not self._has_places(gang, pods, found):
            return None
        del self.out[gang]
        self.own[gang] = pods
        return found

    def _left_over(self, gang: str, pods: Members) -> Packer | None:
        late = {**self.late, gang: pods}
        found = self._packed(frozenset(self.out), self.own, late)
        if not self._has_places(gang, pods, found):
            return None
        self.late = late
        return found

    def _packed(
        self, out: frozenset[str], own: Mapping[str, Members], late: Mapping[str, Members]
    ) -> Packer:
        return self.pack(_arranged(self.work.groups, out, own, late))

    def _has_places(self, gang: str, pods: Members, packer: Packer) -> bool:
        """Tell whether a gang has its places and no other one lost its own; note how many it has.

        What others pay for is nothing that it could have.
        """
        sizes = _sizes(self.work, packer)
        short = _short(sizes, self.least)
        if not short.keys() - {gang} and sizes[gang] >= self.out[gang]:
            if sizes[gang] > self.out[gang] or gang not in self.best:
                self.best[gang] = pods
            self.out[gang] = sizes[gang]
        return not short


def _shrunk(
    snapshot: ClusterSnapshot, work: Workload, pack: Pack, least: Mapping[str, int]
) -> tuple[Packer, dict[str, int], set[str]]:
    """Pack with fewer and fewer gangs until none of them is short.

    Returns:
        How packing ended, the gangs that are out with how many places they had, and those of them
        that were given up without being short.
    """
    out: dict[str, int] = {}
    given_up: set[str] = set()
    rounds = 0
    needs: GangNeeds | None = None
    while True:
        packer = pack(_arranged(work.groups, frozenset(out), {}, {}))
        sizes = _sizes(work, packer)
        short = _short(sizes, least)
        if not short:
            return packer, out, given_up
        rounds += 1
        needs = needs or GangNeeds(snapshot, work)
        out |= short
        out |= needs.short_without(out)
        if rounds > _MOST_ROUNDS:
            # Gangs that run as they are cannot come short, and are not what this is about.
            still = {gang for gang in sizes if work.gang_members.get(gang, 0) < least.get(gang, 0)}
            last = _queue(work, still - out.keys())[-(2 ** (rounds - _MOST_ROUNDS)) :]
            given_up.update(last)
            out |= {gang: sizes[gang] for gang in last}


def _short(sizes: Mapping[str, int], least: Mapping[str, int]) -> dict[str, int]:
    """Return the gangs that have too few places, with how many they have."""
    return {gang: size for gang, size in sizes.items() if size < least.get(gang, 0)}


def _queue(work: Workload, gangs: Container[str]) -> list[str]:
    """Return these gangs in the order in which their first pods are tried."""
    return list(
        dict.fromkeys(gang for group in work.groups for gang in group.gangs if gang in gangs)
    )


def _arranged(
    groups: Sequence[Group],
    out: frozenset[str],
    own: Mapping[str, Members],
    late: Mapping[str, Members],
) -> tuple[Group, ...]:
    """Return the groups without the pods of some gangs.

    Args:
        groups: in the order of the queue.
        out: gangs that are left out.
        own: pods of gangs in an order of their own; they come when it is the first one's turn.
        late: pods of gangs that come at the end, one gang after the other.
    """
    if not (out or own or late):
        return tuple(groups)
    found: list[Group] = []
    coming = dict(own)
    for group in groups:
        for gang in dict.fromkeys(group.gangs):
            found.extend(coming.pop(gang, ()))
        kept = [
            index for index, gang in enumerate(group.gangs) if gang not in out and gang not in own
        ]
        if kept:
            found.append(group.of(kept))
        if group.nominated:
            found.extend(_held(group, out - late.keys()))
    for rank, pods in enumerate(late.values(), start=1):
        found.extend(replace(group, late=rank) for group in pods)
    return tuple(found)


def _held(group: Group, out: frozenset[str]) -> Iterator[Group]:
    """Yield the pods of gangs that are out: kube-scheduler, which knows none, keeps their room."""
    for gang in dict.fromkeys(group.gangs):
        if gang in out:
            theirs = group.of([index for index, own in enumerate(group.gangs) if own == gang])
            yield replace(theirs, gangs=("",) * len(theirs.uids), only_held=True)


def _sizes(work: Workload, packer: Packer) -> dict[str, int]:
    """Return how many pods of each gang that was packed have a place, those that run included."""
    found: Counter[str] = Counter()
    for group, left in zip(packer.groups, packer.left, strict=True):
        if not any(group.gangs):
            continue
        found.update(dict.fromkeys(group.gangs, 0))
        found.update(group.gangs[: len(group.uids) - left])
    return {gang: count + work.gang_members.get(gang, 0) for gang, count in found.items() if gang}
