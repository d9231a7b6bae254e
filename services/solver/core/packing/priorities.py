"""Priorities of waiting pods: who gets a place where there is too little for all.

Apart because packing goes by size, by which more pods have places for less; priority matters only
where somebody is left out for one who is worth less.

Laws:
    - Of two packings the better one places more pods of the highest priority in which they differ.
    - A gang has the highest priority of its pods: they get places together.

Source: kube-scheduler, which takes waiting pods by priority. Difference on purpose from Karpenter,
which looks at sizes alone.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from services.solver.core.packing.packing import Packer
from services.solver.core.pods.grouping import Group

_MOST_LEVELS = 8
"""How many priorities are told apart, the highest of those that are left out."""


def is_better(one: Packer, other: Packer) -> bool:
    """Tell whether a packing serves the priorities of pods better, those of buffers apart."""
    mine, theirs = _placed(one), _placed(other)
    differing = [level for level in mine.keys() | theirs.keys() if mine[level] != theirs[level]]
    return bool(differing) and mine[max(differing)] > theirs[max(differing)]


def passed_over(packer: Packer, late: Iterable[Group]) -> frozenset[int]:
    """Return the priorities of pods that have no place while pods of a lower one have.

    Args:
        packer: how packing ended.
        late: the groups that it is about; those that were not packed have no place.
    """
    least = min(_placed(packer), default=None)
    if least is None:
        return frozenset()
    lacking = without_places(packer, late).values()
    return frozenset(priority for priority in lacking if priority > least)


def without_places(packer: Packer, groups: Iterable[Group]) -> dict[str, int]:
    """Return the priorities of the pods of some groups that have no place, by uid."""
    found: dict[str, int] = {}
    unknown = {group.uids: group for group in groups}
    for group, ordered, left in _pairs(packer):
        if unknown.pop(group.uids, None) is not None and left:
            found.update(zip(ordered.uids[-left:], ordered.priorities[-left:], strict=True))
    for group in unknown.values():
        found.update(zip(group.uids, group.priorities, strict=True))
    return found


def from_on(groups: Iterable[Group], least: int) -> frozenset[int]:
    """Return the priorities of pods that have at least this one."""
    every = frozenset(
        chain.from_iterable(group.priorities for group in groups if not group.virtual)
    )
    return frozenset(priority for priority in every if priority >= least)


def by_priority(groups: Sequence[Group], levels: Iterable[int]) -> tuple[Group, ...]:
    """Return the groups in layers: who has at least the first of some priorities, and so on.

    Args:
        groups: in the order of the queue.
        levels: the priorities; of many only the highest are told apart.
    """
    steps = sorted({-one for one in levels})[:_MOST_LEVELS]
    of_gang = defaultdict[str, int](lambda: len(steps))
    for group in groups:
        for gang, priority in zip(group.gangs, group.priorities, strict=True):
            if gang:
                of_gang[gang] = min(of_gang[gang], bisect_left(steps, -priority))
    found: list[tuple[tuple[int, int], Group]] = []
    for group in groups:
        pods = defaultdict[int, list[int]](list)
        for pod, (gang, priority) in enumerate(zip(group.gangs, group.priorities, strict=True)):
            level = of_gang[gang] if gang else bisect_left(steps, -priority)
            pods[len(steps) if group.virtual else level].append(pod)
        found += [((level, group.layer), group.of(mine)) for level, mine in sorted(pods.items())]
    layers = sorted({layer for layer, _ in found})
    number = {layer: at - len(layers) + 1 for at, layer in enumerate(layers)}
    return tuple(replace(group, layer=number[layer]) for layer, group in found)


def _pairs(packer: Packer) -> Iterable[tuple[Group, Group, int]]:
    """Yield the groups but for buffers, those in the order of placement, and how many are left."""
    for group, ordered, left in zip(packer.problem.groups, packer.groups, packer.left, strict=True):
        if not group.virtual:
            yield group, ordered, left


def _placed(packer: Packer) -> Counter[int]:
    """Return how many pods of each priority have a place."""
    found: Counter[int] = Counter()
    for _, ordered, left in _pairs(packer):
        found.update(ordered.priorities[: len(ordered.uids) - left])
    return found
