"""The pods on nodes as numbers: how many of each shape are where.

Apart from the table because one revision, what-if or command differs from another in few pods: of
all that is counted here the rest is shared, and what differs is added or taken off.

Laws:
    - Equal pods are equal columns, whatever they were derived from.
    - Codes of names order nothing but columns that mean the same in any order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from weakref import ref

import numpy as np

from libs.collections.codes import Codes
from libs.domain.pod import PodShape
from libs.domain.topology import PodAffinityTerm
from services.solver.core.reading.residents import Residents
from services.solver.core.sums import totals
from services.solver.core.vectors import MOST, Bools, Ints

PodCounts = Ints
"""(3, n): the id of a shape, a seat, and how many such pods there are, or how many more.

A seat is a number for the code of a node, that of the uid of the DaemonSet that owns the pods, 0
for others, and whether they are terminating.
"""

SHAPE, SEAT, COUNT = range(3)
NO_PODS = np.zeros((3, 0), np.int64)
_NODE_BITS = 32
_STALE = 1000


def pod_counts(shapes: Ints, nodes: Ints, daemonsets: Ints, terminating: Ints) -> PodCounts:
    """Return the counts of as many pods, one column for each."""
    seats = nodes << _NODE_BITS | daemonsets << 1 | terminating
    return np.stack([shapes, seats, np.ones(len(shapes), np.int64)])


def picked(columns: Ints, which: Bools) -> Ints:
    """Return those columns of (m, n) that are picked, (n,): many times faster than an index is."""
    return columns.compress(which, axis=1)


def nodes_of(counts: PodCounts) -> Ints:
    """Return (n,): the codes of the nodes."""
    codes: Ints = counts[SEAT] >> _NODE_BITS
    return codes


def daemonsets_of(counts: PodCounts) -> Ints:
    """Return (n,): the codes of the DaemonSets' uids, 0 for pods of others."""
    codes: Ints = (counts[SEAT] & (1 << _NODE_BITS) - 1) >> 1
    return codes


def staying(counts: PodCounts) -> PodCounts:
    """Return the pods that are not terminating."""
    return picked(counts, counts[SEAT] & 1 == 0)


def less(counts: PodCounts) -> PodCounts:
    """Return the change that takes such pods away."""
    found = counts.copy()
    found[COUNT] *= -1
    return found


class BoundPods:
    """Pods on nodes; none is changed, `after` tells of others."""

    def __init__(
        self,
        codes: Codes,
        residents: Residents,
        by_shape: Mapping[int, PodCounts],
        of_daemons: frozenset[int],
        origin: "tuple[BoundPods, PodCounts] | None" = None,
    ) -> None:
        self.codes = codes
        self.residents = residents
        """All shapes there are, and perhaps some that are gone."""
        self.by_shape = by_shape
        """By id of the shape, ascending; each by seat, ascending."""
        self._of_daemons = of_daemons
        """Ids of shapes of which there are pods of DaemonSets."""
        self._origin = None if origin is None else (ref(origin[0]), origin[1])
        self._sums: dict[str, Ints] = {}

    @classmethod
    def of(cls, codes: Codes, counts: PodCounts, shapes: Mapping[int, PodShape]) -> "BoundPods":
        """Return pods that are counted anew, whose shapes are among these."""
        counted = added_up(counts)
        there = _by_shape(counted)
        residents = Residents().with_more(map(shapes.__getitem__, there))
        return cls(codes, residents, there, _of_daemons(counted))

    @property
    def counts(self) -> PodCounts:
        """All counts in one."""
        return np.concatenate([NO_PODS, *self.by_shape.values()], axis=1)

    def after(self, changes: PodCounts, shapes: Mapping[int, PodShape]) -> "BoundPods":
        """Return the pods with more of some, and less of others.

        Args:
            changes: what comes and, below zero, what goes.
            shapes: has the shapes of all that come.
        """
        changes = added_up(changes)
        touched = _by_shape(changes)
        if not touched:
            return self
        there = [self.by_shape.get(one, NO_PODS) for one in touched]
        merged = _merged(there, list(touched.values()))
        own = _by_shape(merged)
        found = {**self.by_shape, **own}
        for gone in touched.keys() - own.keys():
            found.pop(gone, None)
        of_daemons = (self._of_daemons - touched.keys()) | _of_daemons(merged)
        if found.keys() - self.by_shape.keys():
            found = {one: found[one] for one in sorted(found)}
        residents = self.residents
        if unknown := [one for one in touched if one not in residents.by_id]:
            residents = residents.with_more(map(shapes.__getitem__, unknown))
        if len(residents.by_id) > 2 * len(found) + _STALE:
            residents = Residents().with_more(map(residents.by_id.__getitem__, found))
            return BoundPods(self.codes, residents, found, of_daemons)
        return BoundPods(self.codes, residents, found, of_daemons, (self, changes))

    def __len__(self) -> int:
        return int(self._sum("", _one).sum())

    def has_any(self, shapes: Iterable[int]) -> bool:
        """Tell whether there are pods of any of these shapes, by id."""
        return not self.by_shape.keys().isdisjoint(shapes)

    def with_shared_volumes(self) -> Iterator[PodShape]:
        """Yield the shapes whose pods have volumes that several pods use, in order of their ids."""
        there = self.residents.with_shared_volumes & self.by_shape.keys()
        return map(self.residents.by_id.__getitem__, sorted(there))

    def terms_about(self, shape: PodShape) -> Iterator[PodAffinityTerm]:
        """Yield the terms of anti-affinities of these pods that may be about pods of a shape."""
        for term in self.residents.terms_about(shape):
            if self.has_any(self.residents.by_term[term]):
                yield term

    def owners(self, term: PodAffinityTerm) -> dict[int, PodShape]:
        """Return the shapes, by id, in order, whose pods have a term as an anti-affinity."""
        owning = (one for one in self.residents.by_term.get(term, ()) if one in self.by_shape)
        return {number: self.residents.by_id[number] for number in sorted(owning)}

    def turn(self, term: PodAffinityTerm) -> tuple[int, int]:
        """Return when a term comes that any of them have, by shape and place."""
        number, shape = next(iter(self.owners(term).items()))
        return number, shape.anti_affinity.index(term)

    def on(self, nodes: Ints) -> Ints:
        """Return (n,): how many pods are on each node, by their codes."""
        return _of(self._sum("", _one), nodes)

    def held(self, resource: str, nodes: Ints) -> Ints:
        """Return (n,): how much of a resource pods hold on each node, by their codes."""
        sums = self._sum(resource, lambda shape: min(shape.requests.get(resource), MOST))
        return _of(sums, nodes)

    def daemons(self) -> PodCounts:
        """Return the pods of DaemonSets."""
        parts = [self.by_shape[one] for one in sorted(self._of_daemons)]
        found = np.concatenate([NO_PODS, *parts], axis=1)
        return picked(found, daemonsets_of(found) != 0)

    def of_shapes(self, wanted: Callable[[PodShape], bool]) -> Iterator[tuple[PodShape, int, int]]:
        """Yield (shape, code of the node, how many) of the notable shapes that are wanted."""
        for number in sorted(self.residents.notable & self.by_shape.keys()):
            shape = self.residents.by_id[number]
            if wanted(shape):
                counts = self.by_shape[number]
                nodes, at = np.unique(nodes_of(counts), return_inverse=True)
                sums = totals(at, counts[COUNT], len(nodes))
                for node, count in zip(nodes.tolist(), sums.tolist(), strict=True):
                    yield shape, node, count

    def _sum(self, name: str, amount: Callable[[PodShape], int]) -> Ints:
        """Return sums by code of the node; beyond the last one it is zero."""
        found = self._sums.get(name)
        if found is None:
            found = self._sums[name] = self._find_sum(name, amount)
        return found

    def _find_sum(self, name: str, amount: Callable[[PodShape], int]) -> Ints:
        whole = None if self._origin is None else self._origin[0]()
        if self._origin is None or whole is None:
            return self._added(self.counts, list(self.by_shape), amount)
        changes = self._origin[1]
        found = self._added(changes, sorted(set(changes[SHAPE].tolist())), amount)
        there = whole._sum(name, amount)
        found[: len(there)] += there
        return found

    def _added(
        self, counts: PodCounts, ids: Sequence[int], amount: Callable[[PodShape], int]
    ) -> Ints:
        each = np.array([amount(self.residents.by_id[one]) for one in ids], np.int64)
        kind = np.searchsorted(np.array(ids, np.int64), counts[SHAPE])
        return totals(nodes_of(counts), each[kind] * counts[COUNT], len(self.codes))


def added_up(counts: PodCounts) -> PodCounts:
    """Return the same, one column for each shape and seat, in order, without those of none."""
    if not counts.size:
        return counts
    order = np.lexsort((counts[SEAT], counts[SHAPE]))
    ordered = counts.take(order, axis=1)
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[:COUNT, 1:] != ordered[:COUNT, :-1]).any(axis=0)
    begins = np.flatnonzero(is_new)
    found = ordered.take(begins, axis=1)
    found[COUNT] = np.add.reduceat(ordered[COUNT], begins)
    return picked(found, found[COUNT] != 0)


def _merged(there: Sequence[PodCounts], changes: Sequence[PodCounts]) -> PodCounts:
    """Return counts after changes, both in as many parts: of one shape each, in order of seats."""
    found, new = (np.concatenate(parts, axis=1) for parts in (there, changes))
    begins = accumulate((own.shape[1] for own in there), initial=0)
    places = [
        np.searchsorted(own[SEAT], its[SEAT]) + begin
        for own, its, begin in zip(there, changes, begins, strict=False)
    ]
    at = np.concatenate(places)
    # What would be last of its part is at the begin of the next one.
    near = found[:COUNT].take(at, axis=1, mode="clip") if found.size else at - 1
    known = (near == new[:COUNT]).all(axis=0)
    found[COUNT, at[known]] += new[COUNT, known]
    if not known.all():
        found = np.insert(found, at[~known], new[:, ~known], axis=1)
    return picked(found, found[COUNT] != 0)


def _by_shape(counts: PodCounts) -> dict[int, PodCounts]:
    """Return counts that are in order of their shapes by the id of each."""
    shapes = counts[SHAPE]
    begins = np.flatnonzero(np.append(True, shapes[1:] != shapes[:-1])[: len(shapes)])
    spans = pairwise([*begins.tolist(), len(shapes)])
    return {
        number: counts[:, begin:end]
        for number, (begin, end) in zip(shapes[begins].tolist(), spans, strict=True)
    }


def _of_daemons(counts: PodCounts) -> frozenset[int]:
    return frozenset(np.unique(counts[SHAPE, daemonsets_of(counts) != 0]).tolist())


def _one(_: PodShape) -> int:
    return 1


def _of(sums: Ints, codes: Ints) -> Ints:
    """Return (n,): the sums of these codes; of those that came later there are none."""
    known = codes < len(sums)
    return np.where(known, sums[np.where(known, codes, 0)], 0)
