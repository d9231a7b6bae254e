"""The pods of a snapshot as numpy arrays, put together of what is known of each block.

Apart from the workload because a block is read once in its life: a revision costs the blocks that
are new, and then what numpy takes for numbers that are there.

Laws:
    - Pods that have ended are in nothing here; they take no room.
    - Nothing depends on which blocks were met before: codes of names are looked up, never ordered.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import attrgetter, not_
from typing import Any

import numpy as np

from libs.collections.codes import Codes
from libs.collections.identity_memo import IdentityMemo
from libs.domain.pod import PodPhase
from libs.domain.pod_table import COLUMNS, PodBlock, PodTable
from services.solver.core.vectors import Ints

_ENDED = (PodPhase.SUCCEEDED, PodPhase.FAILED)
_MOST_CODES = 2**18
"""More names than this are forgotten together with all that was made of them."""
_NO_ROWS = np.zeros((4, 0), np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockColumns:
    """What is known of a block."""

    bound: Ints
    """(4, n_bound): per pod on a node its shape's id, the codes of its node and of the DaemonSet's
    uid that owns it, and whether it is terminating."""
    gangs: tuple[str, ...]
    """(n_bound,): gangs of those pods; empty if none has any."""
    loose: PodBlock | None
    """Pods without a node."""
    waiting: Ints
    """(3, n_loose): of those the shape's id, when they were created, and whether they wait."""


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

    def places(self, column: Ints, names: Sequence[str], missing: int) -> Ints:
        """Return (n,): where among these names is the one with each code, or `missing`."""
        numbers = self.codes.of(names)
        table = np.full(max(int(column.max(initial=0)), *numbers, 0) + 1, missing, np.int64)
        table[numbers] = np.arange(len(names))
        found: Ints = table[column]
        return found

    def loose(self, name: str) -> list[Any]:
        """Return a column, by its name in a block, of the pods without a node."""
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
            begin += one.bound.shape[1]


class PodReader:
    """Makes columns of pod tables, and remembers them as long as the tables and blocks live."""

    def __init__(self) -> None:
        self._codes = Codes()
        self.blocks: IdentityMemo[PodBlock, BlockColumns] = IdentityMemo(self._read)
        self._tables: IdentityMemo[PodTable, PodColumns] = IdentityMemo(self._put_together)

    def of(self, table: PodTable) -> PodColumns:
        """Return the columns of a table."""
        return self._tables.of(table)

    @property
    def full(self) -> bool:
        """Return whether so many names were met that it is better to start anew."""
        return len(self._codes) > _MOST_CODES

    def _put_together(self, table: PodTable) -> PodColumns:
        blocks = tuple(self.blocks.of_all(table.blocks))
        bound = np.concatenate([_NO_ROWS, *(one.bound for one in blocks)], axis=1)
        waiting = [one.waiting for one in blocks if one.loose is not None]
        return PodColumns(
            codes=self._codes,
            shape=bound[0],
            node=bound[1],
            daemonset=bound[2],
            terminating=bound[3],
            waiting=np.concatenate([_NO_ROWS[:3], *waiting], axis=1),
            blocks=blocks,
        )

    def _read(self, block: PodBlock) -> BlockColumns:
        if any(phase in block.phases for phase in _ENDED):
            block = _where(block, (phase not in _ENDED for phase in block.phases))
        if "" not in block.nodes:
            loose = None
        else:
            # Even if all are: not the block itself, which is let go as soon as nobody has it.
            loose = _where(block, map(not_, block.nodes))
            block = _where(block, block.nodes)
        return BlockColumns(
            bound=self._bound(block) if block else _NO_ROWS,
            gangs=block.gangs if any(block.gangs) else (),
            loose=loose,
            waiting=_NO_ROWS[:3] if loose is None else _waiting(loose),
        )

    def _bound(self, block: PodBlock) -> Ints:
        owners = [
            owner.uid
            if owner is not None and owner.kind == "DaemonSet" and owner.is_daemonset
            else ""
            for owner in block.owners
        ]
        found = np.empty((4, len(block)), np.int64)
        found[0] = block.shapes
        found[1] = self._codes.of(block.nodes)
        found[2] = self._codes.of(owners)
        found[3] = tuple(map(bool, block.deleting_ms))
        return found


def pod_columns(table: PodTable) -> PodColumns:
    """Return the columns of a table, with nothing remembered."""
    return PodReader().of(table)


def _waiting(loose: PodBlock) -> Ints:
    return np.array([loose.shapes, loose.created_ms, loose.provisionable], np.int64)


def _where(block: PodBlock, wanted: Iterable[object]) -> PodBlock:
    """Return the rows of a block for which something true is given."""
    selectors = tuple(wanted)
    columns = (tuple(compress(column, selectors)) for column in block.columns())
    return PodBlock(**dict(zip(COLUMNS, columns, strict=True)))
