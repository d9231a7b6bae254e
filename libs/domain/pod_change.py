"""How one pod table becomes another, block by block: the cost is that of the blocks touched.

What it becomes knows the rows in which it differs, so that whoever reads it need not look for them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter, is_, not_
from typing import Any

from libs.domain.pod import PodRow
from libs.domain.pod_table import (
    COLUMNS,
    Changed,
    PodBlock,
    PodTable,
    block_finder,
    ends_block,
    joined,
    last_uid,
)

_NOTHING = PodBlock()
_uid = attrgetter("uid")
_Changes = Mapping[str, PodRow | None]
"""By uid what becomes of it: its row, or nothing."""


def changes(base: PodTable, target: PodTable) -> tuple[PodTable, tuple[str, ...]]:
    """Return the rows of `target` that are new or differ, and the uids that only `base` has."""
    if not base.blocks:
        return target, ()
    change = target.origin
    if change is not None and change.base is base:
        if not change.gone:
            return PodTable.from_columns(change.come), ()
        before = {row.uid: row for row in change.gone.rows()}
        new = [row for row in change.come.rows() if before.pop(row.uid, None) != row]
        return PodTable.from_rows(new), tuple(sorted(before))
    # Most blocks are the very same.
    there = {last_uid(block): block for block in _others(base, target)}
    touched = []
    for block in _others(target, base):
        end = last_uid(block)
        if there.get(end) == block:
            del there[end]
        else:
            touched.append(block)
    old = {row.uid: row for block in there.values() for row in block.rows()}
    changed = []
    for block in touched:
        changed += [row for row in block.rows() if old.pop(row.uid, None) != row]
    return PodTable.from_rows(changed), tuple(sorted(old))


def _others(table: PodTable, other: PodTable) -> Iterator[PodBlock]:
    """Yield the blocks of a table that another does not share."""
    shared = set(map(id, other.blocks))
    return compress(table.blocks, map(not_, map(shared.__contains__, map(id, table.blocks))))


def merged(base: PodTable, upserts: PodTable, removed: Iterable[str]) -> PodTable:
    """Return `base` without the removed rows and with the rows of `upserts` put in or replaced."""
    if not base.blocks:
        return upserts
    changed: dict[str, PodRow | None] = dict.fromkeys(removed)
    changed.update((row.uid, row) for row in upserts.rows())
    if not changed:
        return base
    gone: list[PodRow] = []
    blocks = _after(base, changed, gone)
    come = joined(_NOTHING, *upserts.blocks)
    return PodTable.changed(Changed(base, PodBlock.from_rows(gone), come), lambda: blocks)


def exchanged(base: PodTable, gone: Iterable[PodRow], come: Iterable[PodRow]) -> PodTable:
    """Return `base` with rows of it exchanged for others; the work is done when it is looked at.

    Args:
        base: a table.
        gone: rows of it that go, or of which others come.
        come: those that come: what `gone` has none of is new.
    """
    change = Changed(base, _in_one(gone), _in_one(come))
    if not (change.gone or change.come):
        return base

    def blocks() -> tuple[PodBlock, ...]:
        return merged(base, PodTable.from_columns(change.come), change.gone.uids).blocks

    return PodTable.changed(change, blocks)


def _in_one(rows: Iterable[PodRow]) -> PodBlock:
    """Return rows, of which each uid has one, as one block."""
    return PodBlock.from_rows(sorted(rows, key=_uid))


def _after(base: PodTable, changed: _Changes, gone: list[PodRow]) -> tuple[PodBlock, ...]:
    """Return the blocks after changes; rows that go, or of which others come, are put down."""
    found: list[PodBlock] = []
    begun = _NOTHING
    """Rows of a block whose last one is yet to come."""
    done = 0
    for at, own in _by_block(base, changed):
        if begun and at > done:
            # The block before has lost its end, so that it goes on with the next one.
            found.append(joined(begun, base.blocks[done]))
            begun, done = _NOTHING, done + 1
        found += base.blocks[done:at]
        put = [uid for uid, row in own.items() if row is not None]
        put.append(last_uid(base.blocks[at]))  # behind which the last block may grow
        *whole, begun = _cut(joined(begun, _edited(base.blocks[at], own, gone)), put)
        found += whole
        done = at + 1
    if begun:
        found.append(joined(begun, *base.blocks[done : done + 1]))
        done += 1
    return (*found, *base.blocks[done:])


def _by_block(base: PodTable, changed: _Changes) -> Iterator[tuple[int, _Changes]]:
    """Yield the blocks, in order, that change, each with the changes that concern it."""
    found: dict[int, dict[str, PodRow | None]] = defaultdict(dict)
    blocks = base.blocks
    block_of = block_finder(blocks, len(changed))
    for uid, row in changed.items():
        at = min(block_of(uid), len(blocks) - 1)
        if row is not None or blocks[at].position(uid) is not None:
            found[at][uid] = row
    yield from sorted(found.items())


def _edited(block: PodBlock, changed: _Changes, gone: list[PodRow]) -> PodBlock:
    """Return the block after the changes, with its own columns where they do not differ."""
    ordered = sorted(changed.items())
    rows = [row for _, row in ordered if row is not None]
    put = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    runs = _runs(block.uids, ordered)
    old = block.columns()
    for place, _ in runs:
        gone += map(PodRow._make, zip(*(column[place] for column in old), strict=True))
    new = [_spliced(column, values, runs) for column, values in zip(old, put, strict=True)]
    if all(map(is_, old, new)):
        return block
    return PodBlock(**dict(zip(COLUMNS, new, strict=True)))


def _runs(
    uids: tuple[str, ...], changed: Sequence[tuple[str, PodRow | None]]
) -> list[tuple[slice, slice]]:
    """Return which rows go and which of the new ones come in their place, in order.

    What follows each other is one run, however many rows: each run costs the same.
    """
    found: list[tuple[slice, slice]] = []
    gone, come = slice(-1, -1), slice(0, 0)
    for uid, row in changed:
        begin = bisect_left(uids, uid)
        end = begin + (begin < len(uids) and uids[begin] == uid)
        if begin == gone.stop:
            begin = gone.start
            found.pop()
        else:
            come = slice(come.stop, come.stop)
        gone, come = slice(begin, end), slice(come.start, come.stop + (row is not None))
        found.append((gone, come))
    return found


def _spliced(
    column: tuple[Any, ...], put: tuple[Any, ...], runs: Sequence[tuple[slice, slice]]
) -> tuple[Any, ...]:
    """Return the column with other values put in; the same object if it is equal."""
    for gone, come in runs:
        if column[gone] != put[come]:
            break
    else:
        return column
    found: list[Any] = []
    done = 0
    for gone, come in runs:
        found += column[done : gone.start]
        found += put[come]
        done = gone.stop
    found += column[done:]
    return tuple(found)


def _cut(block: PodBlock, uids: Iterable[str]) -> tuple[PodBlock, ...]:
    """Return the blocks that the rows make, and last the rows, often none, behind the last end.

    Of the rows before the last one only those with the given uids may end a block.
    """
    if not block:
        return (block,)
    last = last_uid(block)
    if any(uid != last and ends_block(uid) for uid in uids):
        blocks = PodTable.from_columns(block).blocks
    else:
        blocks = (block,)
    return (*blocks, _NOTHING) if ends_block(last) else blocks
