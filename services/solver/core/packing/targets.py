"""Targets: particular pods of a group that an earlier plan promised a place on a standing bin.

Apart because packing counts pods and does not tell those of one group apart; here they have to be.
"""

from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np

from libs.domain.pod import Target
from libs.domain.reason import TargetKind
from services.solver.core.packing.bins import Placement
from services.solver.core.pods.grouping import Group
from services.solver.core.standing.standing import Standing
from services.solver.core.vectors import Ints


class Targets:
    """Who still waits for which bin; a target that is no bin is as good as none."""

    __slots__ = ("_bins", "_position", "_waiting")

    def __init__(self, groups: Sequence[Group], standing: Standing) -> None:
        position: dict[Target, int] = {}
        promised = [any(group.targets) and not group.only_held for group in groups]
        if any(promised) or any(group.only_held for group in groups):
            bins = map(Target, standing.kinds, standing.names)
            position = {one: number for number, one in enumerate(bins)}
        self._bins = len(standing)
        self._position = position
        self._waiting: list[dict[int, deque[int]]] = []
        """Per group, by bin: its pods in the order of the group."""
        for group, some in zip(groups, promised, strict=True):
            waiting: dict[int, deque[int]] = defaultdict(deque)
            for pod, target in enumerate(group.targets if some else ()):
                if target is not None and target in position:
                    waiting[position[target]].append(pod)
            self._waiting.append(waiting)

    def any(self, group: int) -> bool:
        """Tell whether a pod of the group is expected somewhere."""
        return bool(self._waiting[group])

    def position(self, node: str) -> int | None:
        """Return the bin of a node on which a pod is or was expected; None if it is none."""
        return self._position.get(Target(TargetKind.NODE, node))

    def counts(self, group: int) -> Ints:
        """Return (n_standing,): how many pods of the group are expected on each bin."""
        found = np.zeros(self._bins, np.int64)
        for position, pods in self._waiting[group].items():
            found[position] = len(pods)
        return found

    def take(self, group: int, position: int, count: int) -> tuple[int, ...]:
        """Return the first so many pods that are expected on a bin, and forget them."""
        pods = self._waiting[group][position]
        found = tuple(pods.popleft() for _ in range(count))
        if not pods:
            del self._waiting[group][position]
        return found


def in_order_of_placement(
    groups: Sequence[Group], placements: Sequence[Placement]
) -> tuple[Group, ...]:
    """Return the groups with their pods in the order of their placements, the others at the end."""
    found = list(groups)
    promised = {one.group for one in placements if one.pods}
    seats: dict[int, list[int | None]] = {index: [] for index in promised}
    for one in placements if promised else ():
        if one.group in promised:
            seats[one.group].extend(one.pods or [None] * one.size)
    for index, taken in seats.items():
        found[index] = _reordered(groups[index], taken)
    return tuple(found)


def _reordered(group: Group, seats: list[int | None]) -> Group:
    named = {pod for pod in seats if pod is not None}
    others = (pod for pod in range(len(group.uids)) if pod not in named)
    placed = [next(others) if pod is None else pod for pod in seats]
    return group.of([*placed, *others])
