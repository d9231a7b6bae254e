"""Gangs: pods that get places together or not at all.

A gang that comes out short is taken out whole and everything is packed anew, since its members
held room that others may need; with it go those whose pods would be near nobody then. Where that
takes long, ever more gangs are given up, last ones first, so that the number of packings is bounded
however gangs depend on each other. Gangs that were out together may have kept each other out, so
that each is tried once without the others. What is left then is offered to those still out: so it
is known how many of their pods would have had a place. Members that run already count.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.packing.gang_needs import GangNeeds
from services.solver.core.packing.packing import Packer
from services.solver.core.pods.workload import Group, Workload

_MOST_ROUNDS = 16
"""How often everything is packed anew before gangs are given up that are not short themselves."""

_MOST_OFFERS = 8
"""How often everything is packed anew to try one more gang, and to offer what is left to one."""

_GIVEN_UP = "it waits for the next plan, since too many gangs here depend on each other"

Pack = Callable[[tuple[Group, ...]], Packer]
"""Packs groups and returns how it ended."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A packing in which every gang has all its places or none."""

    packer: Packer
    short: Mapping[str, str]
    """What to say about gangs without places."""


def whole(snapshot: ClusterSnapshot, work: Workload, pack: Pack) -> Whole:
    """Pack until no gang is short of places.

    Args:
        snapshot: the cluster.
        work: all pods.
        pack: packs some of their groups.
    """
    least = {key: gang.min_members for key, gang in snapshot.gangs.items()}
    packer, out, given_up = _shrunk(snapshot, work, pack, least)
    if len(out) > 1:
        for gang in _queue(work, out)[:_MOST_OFFERS]:
            found = pack(_arranged(work.groups, frozenset(out) - {gang}, ()))
            if not _short(_sizes(work, found), least):
                packer = found
                del out[gang]
    late: list[str] = []
    for gang in _offers(work, out, late):
        found = pack(_arranged(work.groups, frozenset(out), (*late, gang)))
        out[gang] = _sizes(work, found)[gang]
        given_up.discard(gang)
        if out[gang] >= least[gang]:
            packer = found
            late.append(gang)
    return Whole(
        packer,
        {
            gang: f"gang {gang} needs {least[gang]} pods placed together; "
            f"{_missing(work, gang, least[gang])}{_GIVEN_UP if gang in given_up else _most(size)}"
            for gang, size in sorted(out.items())
            if gang not in late
        },
    )


def short_gangs(snapshot: ClusterSnapshot, work: Workload, packer: Packer) -> frozenset[str]:
    """Return the gangs that were packed and have too few places."""
    least = {key: gang.min_members for key, gang in snapshot.gangs.items()}
    return frozenset(_short(_sizes(work, packer), least))


def _most(size: int) -> str:
    return f"at most {size} have a place"


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
        packer = pack(_arranged(work.groups, frozenset(out), ()))
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


def _missing(work: Workload, gang: str, wanted: int) -> str:
    """Say how many pods of a gang do not exist."""
    waiting = sum(group.gangs.count(gang) for group in work.groups)
    missing = wanted - waiting - work.gang_members.get(gang, 0)
    return f"{missing} of them do not exist; " if missing > 0 else ""


def _short(sizes: Mapping[str, int], least: Mapping[str, int]) -> dict[str, int]:
    """Return the gangs that have too few places, with how many they have."""
    return {gang: size for gang, size in sizes.items() if size < least.get(gang, 0)}


def _queue(work: Workload, gangs: Container[str]) -> list[str]:
    """Return these gangs in the order in which their first pods are tried."""
    return list(
        dict.fromkeys(gang for group in work.groups for gang in group.gangs if gang in gangs)
    )


def _offers(work: Workload, out: Mapping[str, int], late: Sequence[str]) -> Iterator[str]:
    """Yield gangs in the order of the queue, again and again as long as one of them gets places."""
    queue = _queue(work, out)
    offers = 0
    while queue:
        before = len(late)
        for gang in list(queue):
            if offers == _MOST_OFFERS:
                return
            offers += 1
            yield gang
            if gang in late:
                queue.remove(gang)
        if len(late) == before:
            return


def _arranged(
    groups: Sequence[Group], out: frozenset[str], late: Sequence[str]
) -> tuple[Group, ...]:
    """Return the groups without the pods of some gangs, those of late ones apart at the end."""
    if not out:
        return tuple(groups)
    found = []
    for group in groups:
        kept = [index for index, gang in enumerate(group.gangs) if gang not in out]
        if kept:
            found.append(group.of(kept))
    for rank, wanted in enumerate(late, start=1):
        for group in groups:
            kept = [index for index, gang in enumerate(group.gangs) if gang == wanted]
            if kept:
                found.append(replace(group.of(kept), late=rank))
    return tuple(found)


def _sizes(work: Workload, packer: Packer) -> dict[str, int]:
    """Return how many pods of each gang that was packed have a place, those that run included."""
    found: Counter[str] = Counter()
    for group, left in zip(packer.groups, packer.left, strict=True):
        if not any(group.gangs):
            continue
        found.update(dict.fromkeys(group.gangs, 0))
        found.update(group.gangs[: len(group.uids) - left])
    return {gang: count + work.gang_members.get(gang, 0) for gang, count in found.items() if gang}
