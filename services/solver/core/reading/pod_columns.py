"""The pods of a snapshot as numpy arrays, read where they differ from those that are known.

Apart from the workload because a row is read once. Of a table that was made from one whose columns
are here only the rows in which they differ are; of any other the blocks that none of these has.

Laws:
    - Pods that have ended are in nothing here; they take no room.
    - Nothing depends on which blocks were met before: codes of names are looked up, never ordered.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from weakref import ref

import numpy as np

from libs.collections.codes import Codes
from libs.collections.identity_memo import IdentityMemo
from libs.domain.pod import PodShape
from libs.domain.pod_table import PodBlock, PodTable
from services.solver.core.reading.block_columns import BlockColumns, read
from services.solver.core.reading.bound_pods import NO_PODS, BoundPods, PodCounts, less
from services.solver.core.reading.loose_pods import LoosePods, exchanged, in_one

_BASES = 8
"""Most tables that others are derived from."""
_NEAR = 20
"""Who differs in less than this part of the blocks is near enough: others are not looked at."""

Shapes = Mapping[int, PodShape]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodColumns:
    """All pods of a snapshot that have not ended."""

    bound: BoundPods
    """Those on nodes."""
    gangs: Mapping[str, int]
    """How many of those, but for terminating ones, each gang has."""
    loose: LoosePods
    """Those without a node."""
    blocks: tuple[BlockColumns, ...] = ()
    """What they were put together of; nothing where they were derived from others."""


class _Base:
    """The columns of a table, from which those of others are derived."""

    def __init__(self, table: PodTable, shapes: Shapes, columns: PodColumns) -> None:
        self.table = ref(table)
        self.columns = columns
        self._shapes = shapes

    def has(self, shapes: Shapes) -> bool:
        """Tell whether shapes that it knows, as far as they are there, are what they are here."""
        if self._shapes is shapes:
            return True
        known = self.columns.bound.residents.by_id
        now = map(shapes.get, known, known.values())
        return all(map(is_, now, known.values()))

    def differing(self, blocks: Mapping[int, BlockColumns]) -> int:
        """Return how many blocks only this table, or only the other one, has."""
        new = len(blocks.keys() - self.by_id.keys())
        return 2 * new + len(self.by_id) - len(blocks)

    @cached_property
    def by_id(self) -> Mapping[int, BlockColumns]:
        """Its blocks by their identities."""
        return _by_id(self.columns.blocks)


class PodReader:
    """Makes columns of pod tables, and remembers them as long as the tables and blocks live."""

    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self.blocks: IdentityMemo[PodBlock, BlockColumns] = IdentityMemo(self._look)
        self.read = 0
        """How many rows were read."""
        self._bases: tuple[_Base, ...] = ()

    def of(self, table: PodTable, shapes: Shapes) -> PodColumns:
        """Return the columns of a table whose pods are of these shapes."""
        bases = [one for one in self._bases if one.has(shapes)]
        own = next((one for one in bases if one.table() is table), None)
        if own is not None:
            return own.columns
        origin, found = self._changed(bases, table, shapes) or self._read(bases, table, shapes)
        # Who others are derived from stays longest, and whose table is gone shortest: what-ifs
        # come and go.
        others = [one for one in self._bases if one is not origin]
        others.sort(key=lambda one: one.table() is None)
        first = () if origin is None else (origin,)
        self._bases = (*first, _Base(table, shapes, found), *others)[:_BASES]
        return found

    def _changed(
        self, bases: Iterable[_Base], table: PodTable, shapes: Shapes
    ) -> tuple[_Base, PodColumns] | None:
        """Return what is derived, row by row, of the table that this was made from; else None."""
        change = table.origin
        origin = None
        if change is not None:
            origin = next((one for one in bases if one.table() is change.base), None)
        if change is None or origin is None:
            return None
        gone, come = self._look((change.gone, change.come))
        before = origin.columns
        gangs = before.gangs
        if gone.gangs or come.gangs:
            counted = Counter(gangs)
            counted.update(come.gangs)
            counted.subtract(gone.gangs)
            gangs = +counted
        return origin, PodColumns(
            bound=before.bound.after(_counts((come,), (gone,)), shapes),
            gangs=gangs,
            loose=exchanged(before.loose, gone.loose.uids, come.loose),
        )

    def _look(self, blocks: Sequence[PodBlock]) -> list[BlockColumns]:
        self.read += sum(map(len, blocks))
        return read(blocks, self._codes)

    def _read(
        self, bases: Iterable[_Base], table: PodTable, shapes: Shapes
    ) -> tuple[_Base | None, PodColumns]:
        """Return what is read, block by block, with the help of a table that has most of them."""
        blocks = tuple(self.blocks.of_all(table.blocks))
        gangs = Counter[str]()
        for one in blocks:
            gangs.update(one.gangs)
        now = _by_id(blocks)
        origin = _nearest(bases, now)
        if origin is None:
            bound = BoundPods.of(self._codes, _counts(blocks), shapes)
        else:
            before = origin.by_id
            new = [now[one] for one in now.keys() - before.keys()]
            gone = [before[one] for one in before.keys() - now.keys()]
            bound = origin.columns.bound.after(_counts(new, gone), shapes)
        loose = in_one(one.loose for one in blocks if one.loose.uids)
        return origin, PodColumns(bound=bound, gangs=gangs, loose=loose, blocks=blocks)


def _nearest(bases: Iterable[_Base], blocks: Mapping[int, BlockColumns]) -> _Base | None:
    """Return what has most of these blocks; nothing that has less than half of them."""
    found, least = None, len(blocks)
    for one in bases:
        differing = one.differing(blocks)
        if differing < least:
            found, least = one, differing
        if least * _NEAR < len(blocks):
            break
    return found


def _by_id(blocks: Iterable[BlockColumns]) -> dict[int, BlockColumns]:
    return {id(one): one for one in blocks}


def _counts(come: Iterable[BlockColumns], gone: Iterable[BlockColumns] = ()) -> PodCounts:
    """Return how many pods more there are with some blocks, and without others."""
    parts = [*(one.bound for one in come), *(less(one.bound) for one in gone)]
    return np.concatenate([NO_PODS, *parts], axis=1)
