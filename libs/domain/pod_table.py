"""All pods of a cluster, as columns in blocks: a change makes few blocks anew, the rest is shared.

Apart from `pod.py` because this is only about how rows are kept. Whoever derives something of a
block may remember it with the block, by identity: blocks never change, and one revision shares with
the next all but those in which a pod changed.

Laws:
- Rows are sorted by uid, each uid once.
- Where a block ends is decided by the uid of its last row alone. So equal tables have equal blocks,
  whatever changes led there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain, compress, count, pairwise
from operator import attrgetter, not_
from typing import Any, NamedTuple
from weakref import ref
from zlib import crc32

from libs.domain.pod import Owner, PodPhase, PodRow, Target

_LOOKS = 16
"""Ends of blocks that are looked at to find that of one row."""
_MEAN_ROWS = 64
"""Rows of a block on average: enough that numpy is worth calling, few enough to be made anew."""


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class PodBlock:
    """Pods as columns of equal length, sorted by uid; names and meaning are those of `PodRow`."""

    uids: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shapes: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    phases: tuple[PodPhase, ...] = ()
    ready: tuple[bool, ...] = ()
    provisionable: tuple[bool, ...] = ()
    created_ms: tuple[int, ...] = ()
    started_ms: tuple[int, ...] = ()
    deleting_ms: tuple[int, ...] = ()
    priorities: tuple[int, ...] = ()
    deletion_costs: tuple[int, ...] = ()
    do_not_disrupt_ms: tuple[int, ...] = ()
    owners: tuple[Owner | None, ...] = ()
    volume_claims: tuple[tuple[str, ...], ...] = ()
    gangs: tuple[str, ...] = ()
    targets: tuple[Target | None, ...] = ()
    nominated: tuple[str, ...] = ()
    _hosts: frozenset[str] = field(init=False, repr=False, compare=False)
    """Made when first asked for."""

    @classmethod
    def from_rows(cls, rows: Sequence[PodRow]) -> "PodBlock":
        """Build a block of rows that are in order of uid already."""
        return cls(**dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))) if rows else cls()

    def columns(self) -> tuple[tuple[Any, ...], ...]:
        """Return all columns, in the order of `COLUMNS`."""
        found: tuple[tuple[Any, ...], ...] = _columns(self)
        return found

    def rows(self) -> Iterator[PodRow]:
        """Yield the rows in order of uid."""
        return map(PodRow._make, zip(*self.columns(), strict=True))

    def row(self, index: int) -> PodRow:
        """Return one row."""
        return PodRow._make(column[index] for column in self.columns())

    def position(self, uid: str) -> int | None:
        """Return the row of a uid, None if there is none."""
        index = bisect_left(self.uids, uid)
        return index if index < len(self.uids) and self.uids[index] == uid else None

    @property
    def hosts(self) -> frozenset[str]:
        """The nodes of its pods, each once."""
        try:
            return self._hosts
        except AttributeError:
            object.__setattr__(self, "_hosts", frozenset(self.nodes))
            return self._hosts

    def __len__(self) -> int:
        return len(self.uids)


COLUMNS = tuple(one.name for one in fields(PodBlock) if one.init)
"""The names of the columns, in the order of `PodRow`'s fields."""

_columns = attrgetter(*COLUMNS)
_known_hosts = attrgetter("_hosts")


class Changed(NamedTuple):
    """Rows in which a table differs from another."""

    base: "PodTable"
    gone: PodBlock
    """Rows that only the other one has; of a pod that changed the one before."""
    come: PodBlock
    """Rows that only the table has."""


class PodTable:
    """All pods. A column of the whole table is made when asked for: use blocks where it matters."""

    __slots__ = ("__weakref__", "_base", "_blocks", "_make", "_rows")

    def __init__(self, blocks: tuple[PodBlock, ...] = ()) -> None:
        self._blocks = blocks
        self._make: Callable[[], tuple[PodBlock, ...]] | None = None
        self._base: ref[PodTable] | None = None
        self._rows: tuple[PodBlock, PodBlock] | None = None

    @classmethod
    def changed(cls, change: Changed, make: Callable[[], tuple[PodBlock, ...]]) -> "PodTable":
        """Return what a table becomes; its blocks are made when first asked for."""
        found = cls()
        found._make = make
        found._base, found._rows = ref(change.base), (change.gone, change.come)
        return found

    @property
    def blocks(self) -> tuple[PodBlock, ...]:
        """The rows, in order of uid."""
        make = self._make
        if make is not None:  # threads may both do so; what they make is equal
            self._blocks = make()
            self._make = None
        return self._blocks

    @property
    def origin(self) -> Changed | None:
        """From which table, if that is still there, it differs by which rows; None if unknown."""
        base = None if self._base is None else self._base()
        return None if base is None or self._rows is None else Changed(base, *self._rows)

    @classmethod
    def from_rows(cls, rows: Iterable[PodRow]) -> "PodTable":
        """Build a table of rows in any order; a uid that comes twice keeps its last row."""
        by_uid = {row.uid: row for row in rows}
        ordered = [by_uid[uid] for uid in sorted(by_uid)]
        return cls.from_columns(PodBlock.from_rows(ordered))

    @classmethod
    def from_columns(cls, whole: PodBlock) -> "PodTable":
        """Build a table of all its rows as one block."""
        spans = _spans(whole.uids)
        if len(spans) == 1:
            return cls((whole,))
        columns = whole.columns()
        return cls(
            tuple(
                PodBlock(
                    **{
                        name: column[begin:end]
                        for name, column in zip(COLUMNS, columns, strict=True)
                    }
                )
                for begin, end in spans
            )
        )

    @property
    def uids(self) -> tuple[str, ...]:
        """The uids, in order."""
        return tuple(self.column("uids"))

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces."""
        return tuple(self.column("namespaces"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names."""
        return tuple(self.column("names"))

    def column(self, name: str) -> Iterator[Any]:
        """Yield one column of the whole table."""
        return chain.from_iterable(map(attrgetter(name), self.blocks))

    def rows(self) -> Iterator[PodRow]:
        """Yield the rows in order of uid."""
        return chain.from_iterable(block.rows() for block in self.blocks)

    def find(self, uid: str) -> PodRow | None:
        """Return the row of a uid, None if there is none."""
        at = bisect_left(self.blocks, uid, key=last_uid)
        if at == len(self.blocks):
            return None
        index = self.blocks[at].position(uid)
        return None if index is None else self.blocks[at].row(index)

    def nodes_of(self, uids: Iterable[str]) -> dict[str, str]:
        """Return the nodes of those of these pods that are on one."""
        wanted, found = tuple(uids), {}
        block_of = block_finder(self.blocks, len(wanted))
        for uid in wanted:
            at = block_of(uid)
            index = self.blocks[at].position(uid) if at < len(self.blocks) else None
            if index is not None and (node := self.blocks[at].nodes[index]):
                found[uid] = node
        return found

    def bound_to(self, nodes: frozenset[str]) -> Iterator[PodRow]:
        """Yield the pods on these nodes, in order of uid."""
        without = map(nodes.isdisjoint, _hosts(self.blocks))
        for block in compress(self.blocks, map(not_, without)):
            for index in compress(count(), map(nodes.__contains__, block.nodes)):
                yield block.row(index)

    def __len__(self) -> int:
        return sum(map(len, self.blocks))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PodTable) and self.blocks == other.blocks

    def __hash__(self) -> int:
        return hash(self.blocks)

    def __repr__(self) -> str:
        return f"PodTable({self.blocks!r})"


def _hosts(blocks: Sequence[PodBlock]) -> list[frozenset[str]]:
    """Return the nodes of the pods of each block; thousands of blocks mostly know theirs."""
    try:
        return list(map(_known_hosts, blocks))
    except AttributeError:
        return [block.hosts for block in blocks]


def joined(one: PodBlock, *others: PodBlock) -> PodBlock:
    """Return the rows of several blocks, which follow each other, as one."""
    blocks = [block for block in (one, *others) if block]
    if len(blocks) < 2:
        return blocks[0] if blocks else one
    columns = zip(*(block.columns() for block in blocks), strict=True)
    return PodBlock(
        **{
            name: tuple(chain.from_iterable(parts))
            for name, parts in zip(COLUMNS, columns, strict=True)
        }
    )


def last_uid(block: PodBlock) -> str:
    """Return the uid by which a block, which has rows, is found."""
    return block.uids[-1]


def block_finder(blocks: Sequence[PodBlock], lookups: int) -> Callable[[str], int]:
    """Return what tells which block a uid belongs to, or that it is behind them all.

    Args:
        blocks: of a table.
        lookups: how often it will be asked: to read the ends of all blocks takes as long as some.
    """
    if lookups * _LOOKS < len(blocks):
        return partial(bisect_left, blocks, key=last_uid)
    return partial(bisect_left, list(map(last_uid, blocks)))


def ends_block(uid: str) -> bool:
    """Tell whether a row of this uid is the last one of its block."""
    return crc32(uid.encode()) % _MEAN_ROWS == 0


def _spans(uids: Sequence[str]) -> list[tuple[int, int]]:
    """Return begin and end of each block into which rows with these uids are cut."""
    # As `ends_block`, written out: this is done for every pod of a full push.
    sums = map(crc32, map(str.encode, uids))
    ends = [end for end, checksum in enumerate(sums, start=1) if not checksum % _MEAN_ROWS]
    if len(uids) and (not ends or ends[-1] < len(uids)):
        ends.append(len(uids))
    return list(pairwise([0, *ends]))
