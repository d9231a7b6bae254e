"""The pods of a snapshot as numpy arrays, put together of what is known of each block.

Apart from the workload because a block is read once in its life, and what is counted of all pods is
that of another table with most of the same blocks, and what the others make of it.

Laws:
    - Pods that have ended are in nothing here; they take no room.
    - Nothing depends on which blocks were met before: codes of names are looked up, never ordered.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter, is_
from typing import Any
from weakref import ref

import numpy as np

from libs.collections.codes import Codes
from libs.collections.identity_memo import IdentityMemo
from libs.domain.pod import PodShape
from libs.domain.pod_table import PodBlock, PodTable
from services.solver.core.reading.block_columns import BlockColumns, read
from services.solver.core.reading.bound_pods import NO_PODS, BoundPods, PodCounts, less
from services.solver.core.vectors import Ints

_BASES = 8
"""Most tables that others are derived from."""
_NEAR = 20
"""Who differs in less than this part of the blocks is near enough: others are not looked at."""
_NONE_WAIT = np.zeros((4, 0), np.int64)

Shapes = Mapping[int, PodShape]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodColumns:
    """All pods of a snapshot that have not ended."""

    bound: BoundPods
    """Those on nodes."""
    waiting: Ints
    """(4, n_loose): of those without a node, as in `LoosePods`, in order of uid."""
    blocks: tuple[BlockColumns, ...]

    def loose(self, name: str) -> list[Any]:
        """Return a column, by its name in `LoosePods`, of the pods without a node."""
        of = attrgetter(name)
        return list(chain.from_iterable(of(one.loose) for one in self.blocks if one.loose))


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
        self.blocks: IdentityMemo[PodBlock, BlockColumns] = IdentityMemo(
            partial(read, codes=self._codes)
        )
        self._bases: tuple[_Base, ...] = ()

    def of(self, table: PodTable, shapes: Shapes) -> PodColumns:
        """Return the columns of a table whose pods are of these shapes."""
        bases = [one for one in self._bases if one.has(shapes)]
        own = next((one for one in bases if one.table() is table), None)
        if own is not None:
            return own.columns
        blocks = tuple(self.blocks.of_all(table.blocks))
        by_id = _by_id(blocks)
        origin = _nearest(bases, by_id)
        waiting = [one.loose.numbers for one in blocks if one.loose is not None]
        found = PodColumns(
            bound=self._bound(origin, by_id, shapes),
            waiting=np.concatenate([_NONE_WAIT, *waiting], axis=1),
            blocks=blocks,
        )
        # Who others are derived from stays longest, and whose table is gone shortest: what-ifs
        # come and go.
        others = [one for one in self._bases if one is not origin]
        others.sort(key=lambda one: one.table() is None)
        first = () if origin is None else (origin,)
        self._bases = (*first, _Base(table, shapes, found), *others)[:_BASES]
        return found

    def _bound(
        self, origin: _Base | None, now: Mapping[int, BlockColumns], shapes: Shapes
    ) -> BoundPods:
        if origin is None:
            return BoundPods.of(self._codes, _counts(now.values()), shapes)
        before = origin.by_id
        gone = less(_counts(before[one] for one in before.keys() - now.keys()))
        new = _counts(now[one] for one in now.keys() - before.keys())
        return origin.columns.bound.after(np.concatenate([gone, new], axis=1), shapes)


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


def _counts(blocks: Iterable[BlockColumns]) -> PodCounts:
    return np.concatenate([NO_PODS, *(one.bound for one in blocks)], axis=1)
