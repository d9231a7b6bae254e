"""The pods of a snapshot as numpy arrays, put together of what is known of each block.

Apart from the workload because a block is read once in its life: a revision costs the blocks that
are new, and then what numpy takes for numbers that are there.

Laws:
    - Pods that have ended are in nothing here; they take no room.
    - Nothing depends on which blocks were met before: codes of names are looked up, never ordered.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise, repeat
from operator import attrgetter
from typing import Any
from weakref import ref

import numpy as np

from libs.collections.codes import Codes
from libs.collections.identity_memo import IdentityMemo
from libs.domain.pod_table import PodBlock, PodTable
from services.solver.core.block_columns import BlockColumns, read
from services.solver.core.vectors import Ints

_MOST_CODES = 2**18
"""More names than this are forgotten together with all that was made of them."""
_BASES = 4
"""Most tables that others are cut from."""
_NO_ROWS = np.zeros((4, 0), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PodColumns:
    """All pods of a snapshot that have not ended."""

    codes: Codes
    shape: Ints
    """(n_bound,): ids of the shapes of pods on nodes, in order of uid."""
    node: Ints
    """(n_bound,): codes of their nodes."""
    daemonset: Ints
    """(n_bound,): codes of the uids of DaemonSets that own them, 0 for others."""
    terminating: Ints
    """(n_bound,)."""
    waiting: Ints
    """(3, n_loose): as in `BlockColumns`, in order of uid."""
    blocks: tuple[BlockColumns, ...]
    bound: Ints
    """(4, n_bound): the first four columns."""

    def places(self, column: Ints, names: Sequence[str], missing: int) -> Ints:
        """Return (n,): where among these names is the one with each code, or `missing`."""
        numbers = self.codes.of(names)
        table = np.full(max(int(column.max(initial=0)), *numbers, 0) + 1, missing, np.int64)
        table[numbers] = np.arange(len(names))
        return table.take(column)

    def loose(self, name: str) -> list[Any]:
        """Return a column, by its name in `LoosePods`, of the pods without a node."""
        of = attrgetter(name)
        parts = (of(one.loose) for one in self.blocks if one.loose is not None)
        return list(chain.from_iterable(parts))

    def gangs(self) -> Iterator[tuple[int, str]]:
        """Yield position and gang of the pods on nodes that have one."""
        begin = 0
        for one in self.blocks:
            for at, gang in enumerate(one.gangs, begin):
                if gang:
                    yield at, gang
            begin += one.size


class _Base:
    """The columns of a table that lives, from which those of the next one are cut."""

    def __init__(self, table: ref[PodTable], columns: PodColumns, ids: Sequence[int]) -> None:
        self.table = table
        self.bound = columns.bound
        self._blocks = columns.blocks
        self._ids = ids

    def where(self, ids: Sequence[int]) -> Ints:
        """Return (n,): where in the table are the blocks of these identities, or -1."""
        return np.fromiter(map(self._positions.get, ids, repeat(-1)), np.int64, count=len(ids))

    @cached_property
    def _positions(self) -> Mapping[int, int]:
        return dict(zip(self._ids, range(len(self._ids)), strict=True))

    @cached_property
    def begins(self) -> Ints:
        """(n_blocks + 1,): where each block begins in `bound`."""
        return np.cumsum([0, *map(attrgetter("size"), self._blocks)])


class PodReader:
    """Makes columns of pod tables, and remembers them as long as the tables and blocks live."""

    def __init__(self) -> None:
        self._codes = Codes()
        self.blocks: IdentityMemo[PodBlock, BlockColumns] = IdentityMemo(
            partial(read, codes=self._codes)
        )
        self._tables: IdentityMemo[PodTable, PodColumns] = IdentityMemo(self._put_together)
        self._bases: tuple[_Base, ...] = ()

    def of(self, table: PodTable) -> PodColumns:
        """Return the columns of a table."""
        return self._tables.of(table)

    @property
    def full(self) -> bool:
        """Return whether so many names were met that it is better to start anew."""
        return len(self._codes) > _MOST_CODES

    def _put_together(self, table: PodTable) -> PodColumns:
        blocks = tuple(self.blocks.of_all(table.blocks))
        ids = list(map(id, table.blocks))
        parts = list(self._parts(ids, blocks))
        bound = np.concatenate([_NO_ROWS, *parts], axis=1)
        waiting = [one.waiting for one in blocks if one.loose is not None]
        found = PodColumns(
            codes=self._codes,
            shape=bound[0],
            node=bound[1],
            daemonset=bound[2],
            terminating=bound[3],
            waiting=np.concatenate([_NO_ROWS[:3], *waiting], axis=1),
            blocks=blocks,
            bound=bound,
        )
        living = [base for base in self._bases if base.table() is not None]
        self._bases = (_Base(ref(table), found, ids), *living[: _BASES - 1])
        return found

    def _parts(self, ids: Sequence[int], blocks: Sequence[BlockColumns]) -> Iterator[Ints]:
        """Yield arrays that together are `bound`: long runs of a table that has the same blocks."""
        for base in self._bases:
            # As long as the table lives, so do its blocks, and nothing else has their identity.
            table = base.table()
            if table is None:
                continue
            at = base.where(ids)
            if 2 * np.count_nonzero(at >= 0) > len(ids):
                yield from _runs(base, at, blocks)
                return
        yield from (one.bound for one in blocks)


def _runs(base: _Base, at: Ints, blocks: Sequence[BlockColumns]) -> Iterator[Ints]:
    """Yield the arrays of the blocks: those that follow each other in the base as one.

    Args:
        base: the columns of another table.
        at: (n_blocks,): where in that table each block is, or -1.
        blocks: the blocks.
    """
    follows = (at[1:] == at[:-1] + 1) & (at[:-1] >= 0)
    begins = [0, *(np.flatnonzero(~follows) + 1).tolist(), len(at)]
    for begin, end in pairwise(begins):
        first = int(at[begin])
        if first < 0:
            yield blocks[begin].bound
        else:
            yield base.bound[:, base.begins[first] : base.begins[first + end - begin]]


def pod_columns(table: PodTable) -> PodColumns:
    """Return the columns of a table, with nothing remembered."""
    return PodReader().of(table)
