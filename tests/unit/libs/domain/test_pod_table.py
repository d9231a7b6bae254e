"""A change of few pods makes few blocks anew, and leads where all rows anew would lead."""

import gc

import pytest

from libs.domain.pod import PodRow
from libs.domain.pod_change import changes, exchanged, merged
from libs.domain.pod_table import PodTable, ends_block
from libs.runtime.randomness import Random


def a_row(uid: str, *, ready: bool = True) -> PodRow:
    return PodRow(uid=uid, namespace="default", name=f"pod-{uid}", shape=1, ready=ready)


def some_rows(count: int, seed: int = 1) -> list[PodRow]:
    random_source = Random(seed)
    return [a_row(f"{random_source.getrandbits(64):016x}") for _ in range(count)]


def blocks_made(base: PodTable, made: PodTable) -> int:
    there = {id(block) for block in base.blocks}
    return sum(id(block) not in there for block in made.blocks)


ROWS = some_rows(5_000)
TABLE = PodTable.from_rows(ROWS)


def test_rows_come_back_in_order_of_uid_whatever_the_order_they_came_in() -> None:
    assert list(TABLE.rows()) == sorted(ROWS)
    assert PodTable.from_rows(reversed(ROWS)) == TABLE
    assert len(TABLE) == len(ROWS)
    assert TABLE.uids == tuple(sorted(row.uid for row in ROWS))


def test_of_two_rows_of_one_uid_the_last_one_counts() -> None:
    table = PodTable.from_rows([a_row("u"), a_row("u", ready=False)])

    assert list(table.rows()) == [a_row("u", ready=False)]


def test_every_block_but_the_last_ends_where_its_last_uid_says() -> None:
    for block in TABLE.blocks[:-1]:
        assert [ends_block(uid) for uid in block.uids] == [False] * (len(block) - 1) + [True]
    assert not any(map(ends_block, TABLE.blocks[-1].uids[:-1]))


@pytest.mark.parametrize("row", [ROWS[0], min(ROWS), max(ROWS)], ids=["some", "first", "last"])
def test_a_pod_is_found_by_its_uid(row: PodRow) -> None:
    assert TABLE.find(row.uid) == row


@pytest.mark.parametrize("uid", ["", "0", "g", "zzz"])
def test_a_uid_that_is_not_there_is_not_found(uid: str) -> None:
    assert TABLE.find(uid) is None
    assert PodTable().find(uid) is None


def test_the_nodes_of_pods_that_are_on_one_are_told_at_once() -> None:
    asked = [row.uid for row in ROWS] + ["", "0", "g", "zzz"]

    assert TABLE.nodes_of(asked) == {row.uid: row.node for row in ROWS if row.node}
    assert PodTable().nodes_of(asked) == {}


def test_a_changed_row_makes_its_block_anew_and_of_it_only_the_columns_that_differ() -> None:
    old = ROWS[7]

    changed = merged(TABLE, PodTable.from_rows([old._replace(ready=False)]), ())

    assert changed.find(old.uid) == old._replace(ready=False)
    assert blocks_made(TABLE, changed) == 1
    (before,) = (block for block in TABLE.blocks if old.uid in block.uids)
    (after,) = (block for block in changed.blocks if old.uid in block.uids)
    assert after.uids is before.uids
    assert after.names is before.names
    assert after.ready != before.ready


def test_rows_that_come_or_go_touch_their_block_and_at_most_the_next() -> None:
    ends = [block.uids[-1] for block in TABLE.blocks]
    inner = TABLE.blocks[3].uids[0]

    assert blocks_made(TABLE, merged(TABLE, PodTable(), [inner])) == 1
    assert blocks_made(TABLE, merged(TABLE, PodTable(), [ends[3]])) == 1
    assert len(merged(TABLE, PodTable(), [ends[3]]).blocks) == len(TABLE.blocks) - 1


@pytest.mark.parametrize(
    ("upserts", "removed"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([], ["zzz", ""], id="unknown uids"),
        pytest.param([ROWS[5]], [], id="a row as it is"),
    ],
)
def test_what_changes_nothing_shares_every_block(upserts: list[PodRow], removed: list[str]) -> None:
    assert merged(TABLE, PodTable.from_rows(upserts), removed) == TABLE


@pytest.mark.parametrize("seed", range(40))
def test_any_change_leads_where_all_rows_anew_would_lead(seed: int) -> None:
    source = Random(seed)
    rows = source.sample(ROWS, source.choice([0, 1, 3, 300, 3_000]))
    base = PodTable.from_rows(rows)
    size = source.choice([0, 1, 5, 50, 500])
    ends = [block.uids[-1] for block in base.blocks]
    removed = {
        *source.sample([row.uid for row in rows], min(len(rows), size)),
        *source.sample(ends, min(len(ends), source.choice([0, 1, 20]))),
    }
    flipped = source.sample(rows, min(len(rows), source.choice([0, 1, 20])))
    upserts = [
        *(row._replace(ready=False) for row in flipped),
        *some_rows(source.choice([0, 1, 5, 200]), seed + 100),
    ]

    made = merged(base, PodTable.from_rows(upserts), removed)

    kept = {row.uid: row for row in rows if row.uid not in removed}
    expected = PodTable.from_rows((kept | {row.uid: row for row in upserts}).values())
    assert made == expected
    assert [block.uids for block in made.blocks] == [block.uids for block in expected.blocks]
    before = (base.find(uid) for uid in {*removed, *(row.uid for row in upserts)})
    come = {row.uid: row for row in upserts}.values()
    lazy = exchanged(base, [row for row in before if row is not None], come)
    assert lazy.blocks == expected.blocks
    # Whether or not it is known what a table was made from.
    assert changes(base, made) == changes(base, lazy) == changes(base, expected)


def test_a_table_knows_in_which_rows_it_differs_from_the_one_it_was_made_from() -> None:
    old, new = ROWS[7], a_row("new")

    made = merged(TABLE, PodTable.from_rows([old._replace(ready=False), new]), [ROWS[9].uid, "?"])

    change = made.origin
    assert change is not None
    assert change.base is TABLE
    assert list(change.gone.rows()) == sorted([old, ROWS[9]])
    assert list(change.come.rows()) == sorted([old._replace(ready=False), new])


def test_a_table_does_not_keep_the_one_it_was_made_from() -> None:
    base = PodTable.from_rows(ROWS)
    made = [
        merged(base, PodTable.from_rows([a_row("new")]), ()),
        exchanged(base, [ROWS[7]], [a_row("new")]),
    ]
    assert all(len(one) for one in made)

    del base
    gc.collect()

    assert [one.origin for one in made] == [None, None]


def test_rows_may_come_on_both_sides_of_the_last_one_if_that_ends_a_block() -> None:
    end = next(row.uid for row in ROWS if ends_block(row.uid))
    base = PodTable.from_rows([a_row(end)])

    made = merged(base, PodTable.from_rows([a_row(""), a_row(f"{end}0")]), ())

    assert made == PodTable.from_rows([a_row(""), a_row(end), a_row(f"{end}0")])


@pytest.mark.parametrize("seed", range(10))
def test_changes_say_what_merging_needs_and_no_more(seed: int) -> None:
    source = Random(seed)
    base = PodTable.from_rows(source.sample(ROWS, 2_000))
    target = merged(
        base,
        PodTable.from_rows(row._replace(ready=False) for row in source.sample(ROWS, 9)),
        source.sample(base.uids, 9),
    )

    changed, removed = changes(base, target)

    assert merged(base, changed, removed) == target
    old = {row.uid: row for row in base.rows()}
    assert all(old.get(row.uid) != row for row in changed.rows())
    assert set(removed) == set(base.uids) - set(target.uids)


def test_pods_are_found_by_their_nodes() -> None:
    bound = [row._replace(node="b" if index % 3 else "a") for index, row in enumerate(ROWS[:99])]

    found = list(PodTable.from_rows(bound).bound_to(frozenset({"a", "c"})))

    assert found == sorted(row for row in bound if row.node == "a")
