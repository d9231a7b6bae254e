"""Room that is kept for nominated pods, in what a node refuses: whose it is, and not a pod's own.

Apart because packing keeps the room of a pod that waits for its node from everybody, itself
included, and nobody sees on the node itself that it is taken.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from libs.domain.pod import PodShape
from libs.domain.reason import TargetKind
from libs.domain.resources import named_amount
from services.solver.core.exclusion import Exclusive, conflict, exclusives
from services.solver.core.packing.bins import Bins, Placement
from services.solver.core.packing.nominated import kept_off
from services.solver.core.packing.problem import Problem


def without_own(problem: Problem, bins: Bins, group: int) -> Bins:
    """Return how packing ended but for the room that is kept for one pod of a group."""
    own = next((one for one in bins.held if one.group == group), None)
    if own is None:
        return bins
    left = own._replace(size=own.size - 1)
    held = tuple(left if one is own else one for one in bins.held if one is not own or left.size)
    free = bins.free.copy()
    free[own.bin] += problem.dimensions.requests(problem.groups[group].shape.requests)
    holdings = bins.holdings.without_plan(own.bin)
    here = np.array([own.bin])
    for one in (*bins.placements, *held):
        if one.bin == own.bin:
            holdings.take(problem.groups[one.group].shape, here, np.array([one.size]))
    for one in held:
        if one.bin == own.bin:
            shape = problem.groups[one.group].shape
            holdings.keep_from(kept_off(problem, shape, own.bin), own.bin)
    return replace(bins, free=free, holdings=holdings, held=held)


def whose_room(problem: Problem, bins: Bins, position: int, resources: Iterable[str]) -> str:
    """Return for whom a node's room of these resources is, to be put after what is free of it."""
    kept = _nominees(problem, bins, position)
    shares = [(name, _share(problem, kept, name)) for name in resources]
    told = ", ".join(named_amount(name, amount, up=True) for name, amount in shares if amount)
    asking = [one for one in kept if any(_share(problem, [one], name) for name, _ in shares)]
    return f"; {told} {_are_for(problem, asking)}" if told else ""


def who_takes(problem: Problem, bins: Bins, position: int, own: Iterable[Exclusive]) -> str:
    """Return which nominated pods take what a pod would have for itself; empty if none does."""
    asked = tuple(own)
    found = [
        one
        for one in _nominees(problem, bins, position)
        if conflict(exclusives(problem.groups[one.group].shape), asked)
    ]
    return f", by {_named(problem, found)}, {_NOMINATED}" if found else ""


def who_keeps_off(problem: Problem, bins: Bins, position: int, shape: PodShape) -> str:
    """Return the nominated pods that must not be near others of a shape on a node."""
    found = [
        one
        for one in bins.held
        if one.bin == position
        and shape.id in kept_off(problem, problem.groups[one.group].shape, position)
    ]
    return _named(problem, found)


_NOMINATED = "for which the node is nominated"


def _nominees(problem: Problem, bins: Bins, position: int) -> list[Placement]:
    """Return who has room on a node, or gets it, because that is nominated for them."""
    name, kind = bins.standing.names[position], bins.standing.kinds[position]
    if kind is not TargetKind.NODE:
        return []
    placed = (one for one in bins.placements if problem.groups[one.group].nominated == name)
    return [one for one in (*placed, *bins.held) if one.bin == position]


def _share(problem: Problem, kept: Iterable[Placement], resource: str) -> int:
    """Return how much of a resource is for these pods."""
    return sum(problem.groups[one.group].shape.requests.get(resource) * one.size for one in kept)


def _are_for(problem: Problem, kept: list[Placement]) -> str:
    return f"of the rest is kept for {_named(problem, kept)}, {_NOMINATED}"


def _named(problem: Problem, kept: Iterable[Placement]) -> str:
    """Return `pod NS/NAME and 2 others`."""
    uids = [uid for one in kept for uid in _uids(problem, one)]
    rows = (problem.pods.find(uid) for uid in uids)
    keys = sorted(row.key for row in rows if row is not None)
    if len(keys) == 1:
        return f"pod {keys[0]}"
    others = len(keys) - 1
    return f"pods {keys[0]} and {others} other{'s' if others > 1 else ''}"


def _uids(problem: Problem, kept: Placement) -> tuple[str, ...]:
    """Return some of a group's pods, as many as are kept room for: they are alike."""
    uids = problem.groups[kept.group].uids
    if kept.pods:
        return tuple(map(uids.__getitem__, kept.pods))
    return uids[-kept.size :]
