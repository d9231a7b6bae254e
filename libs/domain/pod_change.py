"""How one pod table becomes another, block by block: the cost is that of the blocks touched."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from libs.domain.pod import PodRow
from libs.domain.pod_table import COLUMNS, PodBlock, PodTable, ends_block, last_uid

_Changes = Mapping[str, PodRow | None]
"""By uid what becomes of it: its row, or nothing."""


def changes(base: PodTable, target: PodTable) -> tuple[PodTable, tuple[str, ...]]:
    """Return the rows of `target` that are new or differ, and the uids that only `base` has."""
    there = {last_uid(block): block for block in base.blocks}
    touched = []
    for block in target.blocks:
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


def merged(base: PodTable, upserts: PodTable, removed: Iterable[str]) -> PodTable:
    """Return `base` without the removed rows and with the rows of `upserts` put in or replaced."""
    if not base.blocks:
        return upserts
    changed: dict[str, PodRow | None] = dict.fromkeys(removed)
    changed.update((row.uid, row) for row in upserts.rows())
    if not changed:
        return base
    found: list[PodBlock] = []
    begun: list[PodRow] = []
    """Rows of a block whose last one is yet to come."""
    done = 0
    for at, own in _by_block(base, changed):
        if begun and at > done:
            # The block before has lost its end, so that it goes on with the next one.
            found.append(PodBlock.from_rows([*begun, *base.blocks[done].rows()]))
            done, begun = done + 1, []
        found += base.blocks[done:at]
        block = base.blocks[at]
        if not begun and (replaced := _replaced(block, own)) is not None:
            found.append(replaced)
        else:
            whole, begun = _cut([*begun, *_with(block, own)])
            found += whole
        done = at + 1
    if begun and done < len(base.blocks):
        begun += base.blocks[done].rows()
        done += 1
    if begun:
        found.append(PodBlock.from_rows(begun))
    return PodTable((*found, *base.blocks[done:]))


def _by_block(base: PodTable, changed: _Changes) -> Iterator[tuple[int, _Changes]]:
    """Yield the blocks, in order, that change, each with the changes that concern it."""
    found: dict[int, dict[str, PodRow | None]] = defaultdict(dict)
    ends = [last_uid(block) for block in base.blocks]
    for uid, row in changed.items():
        at = min(bisect_left(ends, uid), len(ends) - 1)
        if row is not None or base.blocks[at].position(uid) is not None:
            found[at][uid] = row
    yield from sorted(found.items())


def _replaced(block: PodBlock, changed: _Changes) -> PodBlock | None:
    """Return the block with other content of rows that it has; None where rows come or go."""
    rows: dict[int, PodRow] = {}
    for uid, row in changed.items():
        position = block.position(uid)
        if row is None or position is None:
            return None
        rows[position] = row
    columns = {
        name: _with_values(column, {position: row[field] for position, row in rows.items()})
        for field, (name, column) in enumerate(zip(COLUMNS, block.columns(), strict=True))
    }
    return PodBlock(**columns)


def _with_values(column: tuple[Any, ...], values: Mapping[int, Any]) -> tuple[Any, ...]:
    """Return the column with these values; the same object where they are there already."""
    if all(column[position] == value for position, value in values.items()):
        return column
    found = list(column)
    for position, value in values.items():
        found[position] = value
    return tuple(found)


def _with(block: PodBlock, changed: _Changes) -> list[PodRow]:
    rows = [row for row in block.rows() if row.uid not in changed]
    rows += [row for row in changed.values() if row is not None]
    rows.sort(key=lambda row: row.uid)
    return rows


def _cut(rows: list[PodRow]) -> tuple[list[PodBlock], list[PodRow]]:
    """Return the blocks into which the rows are cut, and the rows behind the last end."""
    found = []
    begin = 0
    for end, row in enumerate(rows, start=1):
        if ends_block(row.uid):
            found.append(PodBlock.from_rows(rows[begin:end]))
            begin = end
    return found, rows[begin:]
