"""Pods become numbers block by block, each block once, and the sums of all from those of others."""

import gc
from collections.abc import Sequence

import numpy as np
import pytest

from libs.collections.codes import Codes
from libs.domain.pod import Owner, PodPhase, PodRow, PodShape
from libs.domain.pod_change import exchanged, merged
from libs.domain.pod_table import PodTable
from libs.runtime.randomness import Random
from services.solver.core.reading.bound_pods import (
    COUNT,
    BoundPods,
    daemonsets_of,
    less,
    nodes_of,
    staying,
)
from services.solver.core.reading.pod_columns import PodColumns, PodReader
from services.solver.core.sums import totals
from tests.support.builders import a_shape

DAEMONSET = Owner(api_version="apps/v1", kind="DaemonSet", name="agent", uid="agent-uid")
SHAPES: dict[int, PodShape] = {
    number: a_shape(number, cpu=f"{number}", labels={"app": str(number)}) for number in range(1, 9)
}


def a_row(number: int, node: str = "a", shape: int = 1) -> PodRow:
    return PodRow(uid=f"{number:05d}", namespace="n", name=str(number), shape=shape, node=node)


def columns_of(rows: Sequence[PodRow]) -> PodColumns:
    return PodReader(Codes()).of(PodTable.from_rows(rows), SHAPES)


TABLE = PodTable.from_rows(a_row(number, "ab"[number % 2]) for number in range(3_000))


CHANGES = PodTable.from_rows([a_row(7)._replace(node="c"), a_row(5_000)])


def test_only_the_rows_are_read_in_which_a_revision_differs_from_the_one_before() -> None:
    reader = PodReader(Codes())
    reader.of(TABLE, SHAPES)
    assert reader.read == len(TABLE)

    reader.of(merged(TABLE, CHANGES, ["00008", "gone"]), SHAPES)

    assert reader.read - len(TABLE) == 4


def test_a_block_is_read_once_whatever_tables_have_it() -> None:
    reader = PodReader(Codes())
    reader.of(TABLE, SHAPES)
    assert reader.blocks.made == len(TABLE.blocks) > 20

    reader.of(PodTable(merged(TABLE, CHANGES, ["00008"]).blocks), SHAPES)

    assert reader.blocks.made == len(TABLE.blocks) + 2


def test_nothing_is_remembered_of_blocks_that_are_gone() -> None:
    reader = PodReader(Codes())
    table = PodTable.from_rows([a_row(1), a_row(2, node="")])
    reader.of(table, SHAPES)

    del table
    gc.collect()

    assert len(reader.blocks) == 0


def test_pods_that_have_ended_count_nowhere() -> None:
    ended = [a_row(1)._replace(phase=PodPhase.FAILED), a_row(2, node="")]
    columns = columns_of([*ended, a_row(3)])

    assert len(columns.bound) == 1
    assert columns.loose.uids == ("00002",)


def test_what_is_bound_is_told_by_codes_of_names() -> None:
    rows = [
        a_row(1)._replace(owner=DAEMONSET),
        a_row(2, node="b")._replace(deleting_ms=5),
        *(a_row(number, node="b") for number in range(3, 6)),
    ]
    bound = columns_of(rows).bound
    counts = bound.by_shape[1]
    a, b, agent = bound.codes.of(("a", "b", "agent-uid"))

    assert list(bound.by_shape) == [1]
    assert nodes_of(counts).tolist() == [a, b, b]
    assert daemonsets_of(counts).tolist() == [agent, 0, 0]
    assert counts[COUNT].tolist() == [1, 3, 1]
    assert staying(counts)[COUNT].tolist() == [1, 3]
    assert nodes_of(bound.daemons()).tolist() == [a]


def test_pods_of_gangs_count_but_for_terminating_ones() -> None:
    rows = [
        a_row(number)._replace(
            gang="n/g" if number % 1_000 == 7 else "", deleting_ms=int(number == 1_007)
        )
        for number in range(3_000)
    ]

    assert columns_of(rows).gangs == {"n/g": 2}


def drawn(source: Random) -> PodRow:
    """Return a pod of one of few uids: others of it may be anywhere, or nowhere."""
    row = a_row(source.randrange(0, 400), source.choice(("", *"abcdefgh")), source.randrange(1, 9))
    return row._replace(
        owner=DAEMONSET if source.randrange(0, 4) == 0 else None,
        deleting_ms=int(source.randrange(0, 4) == 0),
        phase=source.choice((PodPhase.RUNNING, PodPhase.RUNNING, PodPhase.SUCCEEDED)),
        gang=source.choice(("", "n/g", "n/h")),
    )


def described(bound: BoundPods) -> object:
    """Return all that is told of pods on nodes, with names for codes."""
    nodes = np.array(bound.codes.of(tuple("abcdefgh")), np.int64)
    names = dict(zip(nodes.tolist(), "abcdefgh", strict=True))
    seats = {
        shape: sorted(
            (names[node], bool(owner), going, count)
            for node, owner, going, count in zip(
                nodes_of(counts).tolist(),
                daemonsets_of(counts).tolist(),
                (counts[1] & 1).tolist(),
                counts[COUNT].tolist(),
                strict=True,
            )
        )
        for shape, counts in bound.by_shape.items()
    }
    held = {name: bound.held(name, nodes).tolist() for name in ("cpu", "memory", "nothing")}
    shapes = [bound.residents.by_id[number] for number in bound.by_shape]
    return list(seats), seats, held, bound.on(nodes).tolist(), len(bound), shapes


def swapped(base: PodTable, coming: PodTable, gone: Sequence[str]) -> PodTable:
    """Return the same as `merged`, by rows."""
    before = (base.find(uid) for uid in {*gone, *coming.uids})
    return exchanged(base, [row for row in before if row is not None], coming.rows())


@pytest.mark.parametrize("seed", range(8))
def test_what_is_derived_is_what_would_be_counted_anew(seed: int) -> None:
    source, reader = Random(seed), PodReader(Codes())
    tables = [PodTable.from_rows(drawn(source) for _ in range(300))]
    for _ in range(12):
        base = source.choice(tables[-3:])
        gone = [row.uid for row in source.sample(list(base.rows()), source.randrange(0, 20))]
        coming = PodTable.from_rows(drawn(source) for _ in range(source.randrange(0, 20)))
        tables.append(source.choice((merged, swapped))(base, coming, gone))
        # Of some sums are asked before others are derived from them, of some not.
        found = reader.of(tables[-1], SHAPES).bound
        if source.randrange(0, 2):
            described(found)
    for table in tables:
        derived, anew = reader.of(table, SHAPES), PodReader(Codes()).of(table, SHAPES)

        assert described(derived.bound) == described(anew.bound)
        assert derived.gangs == anew.gangs
        assert derived.loose[:-1] == anew.loose[:-1]
        assert derived.loose.numbers.tolist() == anew.loose.numbers.tolist()


def test_the_same_numbers_may_stand_for_other_shapes_in_another_revision() -> None:
    reader = PodReader(Codes())
    reader.of(TABLE, SHAPES)
    other = {**SHAPES, 1: a_shape(1, cpu="7")}
    later = merged(TABLE, PodTable.from_rows([a_row(7)._replace(node="c")]), [])

    bound = reader.of(later, other).bound

    assert bound.residents.by_id[1] is other[1]
    assert bound.held("cpu", np.array(bound.codes.of("c"), np.int64)).tolist() == [7000]


def test_what_ifs_push_out_no_table_that_lives() -> None:
    reader, other = PodReader(Codes()), PodTable.from_rows([a_row(1), a_row(2, node="b")])
    reader.of(TABLE, SHAPES)
    known = reader.of(other, SHAPES)

    for number in range(20):
        reader.of(merged(TABLE, PodTable.from_rows([a_row(number)._replace(node="c")]), []), SHAPES)

    assert reader.of(other, SHAPES) is known


def test_a_change_of_few_pods_moves_few() -> None:
    before = columns_of([a_row(n, "ab"[n % 2], 1 + n // 2 % 8) for n in range(3_000)]).bound

    after = before.after(less(before.by_shape[3][:, :1]), SHAPES)

    shared = [one for one in after.by_shape if after.by_shape[one] is before.by_shape[one]]
    assert shared == [1, 2, 4, 5, 6, 7, 8]
    assert after.residents is before.residents


@pytest.mark.parametrize("scale", [1, 2**52, 2**60], ids=["small", "large", "largest"])
def test_sums_are_exact(scale: int) -> None:
    index, amounts = np.array([2, 0, 2], np.int64), np.array([scale + 1, scale + 1, -2], np.int64)

    assert totals(index, amounts, 4).tolist() == [scale + 1, 0, scale - 1, 0]
