"""How one pod table becomes another, column by column: 150,000 rows must not become objects."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from libs.domain.pod import COLUMNS, PodTable


def changed_rows(base: PodTable, target: PodTable) -> PodTable:
    """Return the rows of `target` that are new or differ from the row of that uid in `base`."""
    position = dict(zip(base.uids, range(len(base)), strict=True))
    common = [row for row, uid in enumerate(target.uids) if uid in position]
    before = [position[target.uids[row]] for row in common]
    changed = set(range(len(target))).difference(common)
    for name in COLUMNS:
        old, new = getattr(base, name), getattr(target, name)
        if old is not new:
            changed.update(_differing(_taken(old, before), _taken(new, common), common))
    return _rows(target, sorted(changed))


def merged(base: PodTable, upserts: PodTable, removed: Iterable[str]) -> PodTable:
    """Return `base` without the removed rows and with the rows of `upserts` put in or replaced."""
    gone = set(removed).union(upserts.uids)
    kept = [row for row, uid in enumerate(base.uids) if uid not in gone]
    uids = (*_taken(base.uids, kept), *upserts.uids)
    order = sorted(range(len(uids)), key=uids.__getitem__)
    return PodTable(
        **{
            name: _taken(
                tuple(chain(_taken(getattr(base, name), kept), getattr(upserts, name))), order
            )
            for name in COLUMNS
        }
    )


def _differing(old: Sequence[Any], new: Sequence[Any], rows: Sequence[int]) -> Iterable[int]:
    if old == new:
        return ()
    return (row for row, before, after in zip(rows, old, new, strict=True) if before != after)


def _rows(table: PodTable, rows: Sequence[int]) -> PodTable:
    return PodTable(**{name: _taken(getattr(table, name), rows) for name in COLUMNS})


def _taken(column: Sequence[Any], rows: Sequence[int]) -> tuple[Any, ...]:
    return tuple(map(column.__getitem__, rows))
