"""Nominated pods of one packing: whose room is kept, and who lacks room beside them.

Apart because they are packed otherwise than all others: they get the place where they are expected
or none, and what they take is taken either way.

Source: kube-scheduler's filters with nominated pods (1.36).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from libs.domain.labels import HOSTNAME
from libs.domain.pod import PodShape
from services.solver.core.packing.held_room import held_room
from services.solver.core.packing.problem import Problem
from services.solver.core.packing.targets import Targets


class Nominated:
    """Keeps room while one problem is packed."""

    __slots__ = ("_packing", "_problem", "_targets", "crowded", "held")

    def __init__(self, problem: Problem, targets: Targets) -> None:
        self._problem = problem
        self._packing = problem.algebra.packing
        self._targets = targets
        self.held: dict[int, tuple[int, int]] = {}
        """Group and number of pods of a placement, by its number, that only keeps room."""
        self.crowded: set[int] = set()
        """Groups, by index, that have places only as others of their layer lack theirs."""

    def hold_only(self, part: Sequence[int]) -> None:
        """Keep the room of those groups of a part that get no places."""
        left = self._packing.left()
        for index in part:
            if self._problem.groups[index].only_held:
                self._hold(index, left[index])

    def hold_left(self, part: Sequence[int]) -> None:
        """Keep the room of the pods of a part that lack it, and note who is crowded then.

        Of pods of one priority kube-scheduler lets none come to the node that is nominated for
        them, if they have no room there together.
        """
        left = self._packing.left()
        late = [index for index in part if left[index] and self._hold(index, left[index])]
        for index in part if late else ():
            group = self._problem.groups[index]
            if left[index] < len(group.uids) and not group.only_held and self._lacks_room(index):
                self.crowded.add(index)

    def _hold(self, index: int, count: int) -> bool:
        """Keep the room of so many pods on their node; False if it is none.

        kube-scheduler counts them there for all that come after them, whether they fit or not.
        """
        group = self._problem.groups[index]
        position = self._targets.position(group.nominated)
        if position is None:
            return False
        self.held[self._packing.placed()] = index, count
        self._keep_others_off(group.shape, position)
        ask = self._problem.topology.ask(held_room(group.shape))
        self._packing.take_standing(index, ask, position, count)
        return True

    def _keep_others_off(self, shape: PodShape, position: int) -> None:
        """Keep off a node who must not be near a pod to come, where the node has the labels."""
        kept = kept_off(self._problem, shape, position)
        self._problem.algebra.holdings.keep_from(kept, position)

    def _lacks_room(self, index: int) -> bool:
        """Tell whether a group's pods, were they to come last, would have no room on their node."""
        group = self._problem.groups[index]
        position = self._targets.position(group.nominated)
        if position is None:
            return False
        holdings = self._problem.algebra.holdings
        asked = self._problem.dimensions.requests(group.shape.requests)
        lacking = self._packing.free()[position] < 0
        return (
            bool(np.any(lacking & (asked > 0)))
            or holdings.is_overfull(group.shape, position)
            or holdings.is_kept_from(group.shape, position)
        )


def kept_off(problem: Problem, shape: PodShape, position: int) -> Iterator[int]:
    """Yield the ids of the shapes whose pods keep off a node where one of a shape is to come."""
    domain_of = problem.topology.ground.domain_of
    for other, keys in problem.apart.get(shape.id, {}).items():
        if any(key == HOSTNAME or domain_of(key)[position] for key in keys):
            yield other
