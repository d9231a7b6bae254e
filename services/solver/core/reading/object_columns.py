"""Numbers about objects that never change, as numpy columns: each is read once per object.

Apart because nodes and claims are thousands, and from one revision to the next, or to a what-if,
few of them are others: to look up where an object is in the columns is all that is done for each,
and only for those that are, where it is known what a collection was made from.

Several threads may share the columns: arrays are put in place of others, never written to. At worst
two threads read the same.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Generic, TypeVar

import numpy as np

from libs.collections.identity_memo import IdentityMemo
from libs.collections.recent import Recent
from libs.domain.sorted_map import SortedMap
from services.solver.core.vectors import Ints

K = TypeVar("K")
Read = Callable[[Sequence[K]], Iterable[int]]
"""Returns a number for each object."""

_COLUMNS = 256
"""Most columns that are kept: those that nobody asks for any more are forgotten."""
_PLACE_BITS = 24


class _Column:
    """Numbers by place, and for which stay of an object there each was read."""

    def __init__(self) -> None:
        self.held = np.zeros((2, 0), np.int64)

    def wide(self, width: int) -> Ints:
        """Return (2, n): what it holds, for so many places at least."""
        held = self.held
        if width > held.shape[1]:
            more = np.zeros((2, width - held.shape[1]), np.int64)
            held = self.held = np.append(held, more, axis=1)
        return held

    def put(self, places: Ints, stays: Ints, numbers: Ints) -> None:
        """Hold numbers at their places."""
        held = self.wide(int(places.max()) + 1).copy()
        held[:, places] = numbers, stays
        self.held = held


class ObjectColumns(Generic[K]):
    """Columns in which each object has a place as long as it lives; then others may have it."""

    _PLACE = (1 << _PLACE_BITS) - 1
    """Bits of the place. Of the class: objects may go when a process ends and the names of modules
    are gone already."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._unused = count()
        self._stays = count(1)
        self._objects: IdentityMemo[K, int] = IdentityMemo(partial(map, self._place), self._leave)
        self._columns = Recent(_COLUMNS)
        self._collections: IdentityMemo[SortedMap[str, K], Columned[K]] = IdentityMemo(
            partial(map, self._of_collection)
        )
        self.read = 0
        """How many numbers were read."""
        self.sought = 0
        """Of how many objects it was looked up where they are."""

    def of(self, objects: Sequence[K]) -> "Columned[K]":
        """Return objects whose columns may be asked for."""
        known = self._known(objects)
        return Columned(self, objects, known & self._PLACE, known >> _PLACE_BITS)

    def of_items(self, items: Mapping[str, K]) -> "Columned[K]":
        """Return the objects of a collection, in its order."""
        if isinstance(items, SortedMap):
            return self._collections.of(items)
        return self.of(tuple(items.values()))

    def _of_collection(self, items: SortedMap[str, K]) -> "Columned[K]":
        origin, objects = items.origin, tuple(items.values())
        known = None if origin is None else self._collections.known(origin[0])
        if origin is None or known is None:
            return self.of(objects)
        before, touched = origin
        names, keys = tuple(before), sorted(set(touched))
        gone = np.array([bisect_left(names, key) for key in keys if key in before], np.int64)
        come = [key for key in keys if key in items]
        new = self._known([items[key] for key in come])
        # Where each of them comes once those that go are gone.
        at = np.array([bisect_left(names, key) for key in come], np.int64)
        at -= np.searchsorted(gone, at)
        return Columned(
            self,
            objects,
            np.insert(np.delete(known.places, gone), at, new & self._PLACE),
            np.insert(np.delete(known.stays, gone), at, new >> _PLACE_BITS),
        )

    def _known(self, objects: Sequence[K]) -> Ints:
        self.sought += len(objects)
        return np.array(self._objects.of_all(objects), np.int64)

    def column(self, name: Hashable, asked: "Columned[K]", read: Read[K]) -> Ints:
        """Return (n,): the numbers of objects by the name of a column."""
        column = self._columns.get(name, _Column)
        held = column.wide(int(asked.places.max(initial=-1)) + 1)
        numbers: Ints = held[0, asked.places]
        missing = np.flatnonzero(held[1, asked.places] != asked.stays)
        if len(missing):
            objects = [asked.objects[one] for one in missing.tolist()]
            numbers[missing] = np.fromiter(read(objects), np.int64, count=len(objects))
            column.put(asked.places[missing], asked.stays[missing], numbers[missing])
            self.read += len(missing)
        return numbers

    def _place(self, _: K) -> int:
        try:
            place = self._free.pop()
        except IndexError:
            place = next(self._unused)
        return next(self._stays) << _PLACE_BITS | place

    def _leave(self, known: int) -> None:
        # An append and no more: an object may go in the middle of anything.
        self._free.append(known & self._PLACE)


@dataclass(frozen=True, slots=True, eq=False)
class Columned(Generic[K]):
    """Objects and where they are in the columns."""

    store: ObjectColumns[K]
    objects: Sequence[K]
    places: Ints
    """(n,)."""
    stays: Ints
    """(n,): a number that only this object has, and nobody before or after it at its place."""

    def column(self, name: Hashable, read: Read[K]) -> Ints:
        """Return (n,): the numbers of the column of a name, in which each object has one.

        Args:
            name: of the column.
            read: reads the numbers of objects of which it is not known; always the same by name.
        """
        return self.store.column(name, self, read)
