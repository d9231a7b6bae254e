"""Which gangs cannot come together once others are out, since pods of theirs would be near nobody.

Apart from `gangs.py`, which packs: a gang that is out takes away whom pods of the next one have to
be near, and so on. Found by packing, each link of such a chain costs a packing of everything.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from libs.domain.snapshot import ClusterSnapshot
from libs.domain.topology import PodAffinityTerm
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.pods.workload import Workload

_Terms = tuple[PodAffinityTerm, ...]


class GangNeeds:
    """Which waiting pods have to be near which others, where none that run will do."""

    def __init__(self, snapshot: ClusterSnapshot, work: Workload) -> None:
        self._least = {key: gang.min_members for key, gang in snapshot.gangs.items()}
        self._running = work.gang_members
        self._shapes = [group.shape.id for group in work.groups]
        self._pods = [Counter(group.gangs) for group in work.groups]
        """Per group: its pods by gang."""
        self._groups: dict[str, list[int]] = defaultdict(list)
        """By gang."""
        for index, pods in enumerate(self._pods):
            for gang in pods:
                self._groups[gang].append(index)
        self._near = _near(snapshot, work)
        """By the terms of an affinity: the shapes that match."""
        self._wanting: dict[_Terms, list[int]] = defaultdict(list)
        """By such terms: the groups that have to be near one of these shapes."""
        for index, group in enumerate(work.groups):
            terms = group.shape.affinity
            # Pods that match their own terms may be the first of their kind.
            if terms in self._near and group.shape.id not in self._near[terms]:
                self._wanting[terms].append(index)
        self._wanted: dict[int, list[_Terms]] = defaultdict(list)
        """By id of a shape: the terms that it matches."""
        for terms in self._wanting:
            for shape in self._near[terms]:
                self._wanted[shape].append(terms)

    def short_without(self, out: Iterable[str]) -> dict[str, int]:
        """Return who else is short once these gangs are out, with how many pods at most.

        Complexity: pods, and shapes that an affinity matches.
        """
        leaving = list(out)
        gone = set(leaving)
        pods = [Counter(known) for known in self._pods]
        shapes = Counter(self._shapes)
        near = {terms: len(self._near[terms]) for terms in self._wanting}
        short: dict[str, int] = {}
        empty: list[int] = []
        while leaving or empty:
            if leaving:
                gang = leaving.pop()
                left = (one for one in self._groups.get(gang, ()) if pods[one].pop(gang, 0))
                empty.extend(one for one in left if not pods[one])
                continue
            for index in self._left_alone(self._shapes[empty.pop()], shapes, near):
                lost, pods[index] = pods[index], Counter()
                if lost:
                    empty.append(index)
                for gang in sorted(lost.keys() - gone - {""}):
                    size = self._size(gang, pods)
                    if size < self._least.get(gang, 0):
                        short[gang] = size
                        gone.add(gang)
                        leaving.append(gang)
        return short

    def _left_alone(
        self, shape: int, shapes: Counter[int], near: dict[_Terms, int]
    ) -> Iterable[int]:
        """Return the groups that are near nobody any more once a group of this shape is empty."""
        shapes[shape] -= 1
        if shapes[shape]:
            return
        for terms in self._wanted.get(shape, ()):
            near[terms] -= 1
            if not near[terms]:
                yield from self._wanting[terms]

    def _size(self, gang: str, pods: list[Counter[str]]) -> int:
        """Return how many pods of a gang there are with these that may still have a place."""
        waiting = sum(pods[index][gang] for index in self._groups[gang])
        return waiting + self._running.get(gang, 0)


def _near(snapshot: ClusterSnapshot, work: Workload) -> Mapping[_Terms, frozenset[int]]:
    """Return by the terms of waiting pods which waiting shapes match, if none that comes anyway."""
    wanted = dict.fromkeys(group.shape.affinity for group in work.groups if group.shape.affinity)
    if not wanted:
        return {}
    daemons = [snapshot.shapes[one.shape] for one in snapshot.daemonsets.values()]
    coming = (*daemons, *(group.shape for group in work.groups))
    index = ShapeIndex(coming, snapshot.namespaces, work.bound)
    certain = {shape.id for shape in daemons}
    found = {terms: index.matching_all(terms) for terms in wanted}
    return {
        terms: shapes
        for terms, shapes in found.items()
        if shapes.isdisjoint(certain) and not work.bound.has_any(shapes)
    }
