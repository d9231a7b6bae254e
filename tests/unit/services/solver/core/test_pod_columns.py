"""Pods become numbers block by block, and each block once."""

import gc

import numpy as np
import pytest

from libs.domain.pod import Owner, PodPhase, PodRow
from libs.domain.pod_change import merged
from libs.domain.pod_table import PodTable
from services.solver.core.pod_columns import PodReader
from services.solver.core.sums import positions, totals

DAEMONSET = Owner(api_version="apps/v1", kind="DaemonSet", name="agent", uid="agent-uid")


def a_row(number: int, node: str = "a") -> PodRow:
    return PodRow(uid=f"{number:05d}", namespace="n", name=str(number), shape=1, node=node)


TABLE = PodTable.from_rows(a_row(number, "ab"[number % 2]) for number in range(3_000))


def test_a_block_is_read_once_whatever_revisions_have_it() -> None:
    reader = PodReader()
    reader.of(TABLE)
    assert reader.blocks.made == len(TABLE.blocks) > 20

    reader.of(merged(TABLE, PodTable.from_rows([a_row(7)._replace(node="c")]), ["00008"]))

    assert reader.blocks.made == len(TABLE.blocks) + 1


def test_nothing_is_remembered_of_blocks_that_are_gone() -> None:
    reader = PodReader()
    table = PodTable.from_rows([a_row(1), a_row(2, node="")])
    reader.of(table)

    del table
    gc.collect()

    assert len(reader.blocks) == 0


def test_pods_that_have_ended_count_nowhere() -> None:
    ended = [a_row(1)._replace(phase=PodPhase.FAILED), a_row(2, node="")]
    columns = PodReader().of(PodTable.from_rows([*ended, a_row(3)]))

    assert len(columns.node) == 1
    assert columns.loose("uids") == ["00002"]


def test_what_is_bound_is_told_by_codes_of_names() -> None:
    rows = [a_row(1)._replace(owner=DAEMONSET), a_row(2, node="b")._replace(deleting_ms=5)]
    columns = PodReader().of(PodTable.from_rows(rows))

    assert columns.places(columns.node, ("b", "a"), -1).tolist() == [1, 0]
    assert columns.places(columns.daemonset, ("agent-uid",), -1).tolist() == [0, -1]
    assert columns.terminating.tolist() == [0, 1]


def test_gangs_are_found_by_position() -> None:
    rows = [
        a_row(number)._replace(gang="n/g" if number % 1_000 == 7 else "") for number in range(3_000)
    ]

    assert list(PodReader().of(PodTable.from_rows(rows)).gangs()) == [
        (7, "n/g"),
        (1_007, "n/g"),
        (2_007, "n/g"),
    ]


@pytest.mark.parametrize("known", [(1, 2, 3, 9), (1, 2, 3, 2**31)], ids=["dense", "sparse"])
def test_places_of_ids_are_found(known: tuple[int, ...]) -> None:
    wanted = np.array([known[3], 1, 3], np.int64)

    assert positions(known, wanted).tolist() == [3, 0, 2]


@pytest.mark.parametrize("scale", [1, 2**52, 2**60], ids=["small", "large", "largest"])
def test_sums_are_exact(scale: int) -> None:
    amounts = np.array([[scale + 1, 1], [0, 2]], np.int64)

    found = totals(np.array([2, 0, 2], np.int64), np.array([0, 0, 1], np.int64), amounts, 4)

    assert found.tolist() == [[scale + 1, 1], [0, 0], [scale + 1, 3], [0, 0]]
