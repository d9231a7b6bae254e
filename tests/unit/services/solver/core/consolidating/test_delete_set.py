"""Which nodes are chosen by sums alone, by HiGHS and without it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Candidate
from services.solver.core.consolidating import milp
from services.solver.core.consolidating.budgets import Budgets
from services.solver.core.consolidating.choice import Choice, wares
from services.solver.core.consolidating.delete_set import chosen, greedily
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.consolidating.teams import team
from services.solver.core.vectors import Ints

DOLLAR = 10**9


def row(*amounts: int) -> Ints:
    return np.array(amounts, np.int64)


def a_leaver(name: str, price: int, load: int, moves: int = 1, pool: str = "default") -> Leaver:
    uids = tuple(f"{name}-{number}" for number in range(moves))
    candidate = Candidate(
        nodeclaim=name, nodeclaim_uid=name, node=name, nodepool=pool, pod_uids=uids
    )
    return Leaver(
        candidate=candidate,
        groups=(),
        load=row(load, load),
        price=price * DOLLAR,
        offering=("", "", ""),
    )


def a_choice(*leavers: Leaver, free: int = 100, own: int = 0, **override: Any) -> Choice:
    fields: dict[str, Any] = {
        "leavers": leavers,
        "own": np.full((len(leavers), 2), own, np.int64),
        "free": row(free, free),
        "wares": wares(row(), np.zeros((0, 2), np.int64)),
        "budgets": Budgets(),
        "move_price": 0,
        "most_moves": None,
    }
    return Choice(**fields | override)


def names(leavers: tuple[Leaver, ...]) -> list[str]:
    return [one.node for one in leavers]


@pytest.fixture(params=[chosen, greedily], ids=["by HiGHS", "without"])
def choose(request: pytest.FixtureRequest) -> Callable[[Choice], tuple[Leaver, ...]]:
    found: Callable[[Choice], tuple[Leaver, ...]] = request.param
    return found


def test_what_fits_in_sum_goes(choose: Callable[[Choice], tuple[Leaver, ...]]) -> None:
    assert names(choose(a_choice(a_leaver("a", 1, 60), a_leaver("b", 2, 60)))) == ["b"]


def test_room_on_a_node_that_goes_is_lost(choose: Callable[[Choice], tuple[Leaver, ...]]) -> None:
    assert names(choose(a_choice(a_leaver("a", 1, 10), a_leaver("b", 1, 10), own=50))) == ["a"]


def test_a_pool_loses_no_more_than_its_budget(
    choose: Callable[[Choice], tuple[Leaver, ...]],
) -> None:
    choice = a_choice(
        a_leaver("a", 3, 1),
        a_leaver("b", 2, 1),
        a_leaver("c", 1, 1, pool="other"),
        budgets=Budgets(most={("default", DisruptionReason.EMPTY): 1}),
    )

    assert names(choose(choice)) == ["a", "c"]


def test_pods_that_may_not_move_keep_their_node(
    choose: Callable[[Choice], tuple[Leaver, ...]],
) -> None:
    choice = a_choice(a_leaver("a", 9, 1, moves=3), a_leaver("b", 2, 1), most_moves=2)

    assert names(choose(choice)) == ["b"]


def test_a_move_that_costs_more_than_it_saves_is_left(
    choose: Callable[[Choice], tuple[Leaver, ...]],
) -> None:
    assert choose(a_choice(a_leaver("a", 1, 1, moves=3), move_price=DOLLAR // 2)) == ()


def test_nothing_to_choose_from_is_nothing(
    choose: Callable[[Choice], tuple[Leaver, ...]],
) -> None:
    assert choose(a_choice()) == ()


def test_the_best_set_is_better_than_one_after_the_other() -> None:
    choice = a_choice(
        a_leaver("a", 5, 60, moves=1), a_leaver("b", 4, 50, moves=1), a_leaver("c", 4, 50, moves=1)
    )

    assert names(chosen(choice)) == ["b", "c"]


def test_nodes_go_that_something_cheaper_could_replace() -> None:
    sold = wares(row(DOLLAR), np.array([[100, 100]], np.int64))

    assert names(chosen(a_choice(a_leaver("a", 3, 100), free=0, wares=sold))) == ["a"]


def test_nodes_are_chosen_without_highs_where_it_finds_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(milp, "solved", lambda choice, cancelled: None)

    assert names(chosen(a_choice(a_leaver("a", 1, 60), a_leaver("b", 2, 60)))) == ["b"]


def test_highs_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    chosen(a_choice(a_leaver("a", 1, 1)))

    assert capfd.readouterr() == ("", "")


def test_wares_that_something_cheaper_outdoes_are_left_out() -> None:
    rooms = np.array([[4, 4], [2, 8], [4, 2], [2, 2]], np.int64)

    found = wares(row(3, 3, 3, 1), rooms)

    assert found.price.tolist() == [1, 3, 3]
    assert found.room.tolist() == [[2, 2], [2, 8], [4, 4]]


@pytest.mark.parametrize(
    ("others", "together"),
    [
        pytest.param([("b", 3, 40)], ["a", "b"], id="one new node is cheaper than both"),
        pytest.param([("b", 3, 170)], ["a"], id="no new node has room for both"),
        pytest.param([("b", 3, 65)], ["a"], id="no new node for both is cheaper"),
        pytest.param([("b", 3, 170), ("c", 2, 50)], ["a", "c"], id="who fits joins"),
    ],
)
def test_a_team_is_replaced_together(
    others: list[tuple[str, int, int]], together: list[str]
) -> None:
    sold = wares(row(1, 3, 6) * DOLLAR, np.array([[10, 10], [100, 100], [200, 200]], np.int64))
    first = a_leaver("a", 3, 50)

    found = team(first, [a_leaver(*one) for one in others], sold)

    assert names(found) == together


@pytest.mark.parametrize(
    ("loads", "together"),
    [
        pytest.param([30, 30], ["a", "b", "c"], id="three where two cost as much as alone"),
        pytest.param([30], ["a"], id="no two that cost as much as alone"),
        pytest.param([30, 30, 30], ["a", "b", "c"], id="nobody more than saves"),
    ],
)
def test_a_team_grows_past_a_size_that_saves_nothing(loads: list[int], together: list[str]) -> None:
    sold = wares(row(1, 2, 4) * DOLLAR, np.array([[32, 32], [90, 90], [180, 180]], np.int64))
    others = [a_leaver(name, 5, load) for name, load in zip("bcd", loads, strict=False)]

    assert names(team(a_leaver("a", 5, 30), others, sold)) == together


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        pytest.param({"single": frozenset({1})}, ["a"], id="pods of which a node has one"),
        pytest.param({"single": frozenset({2})}, ["a", "b"], id="others of which it has one"),
        pytest.param({"zone": "zone-b"}, ["a"], id="pods that are tied to other zones"),
        pytest.param({"zone": "zone-a"}, ["a", "b"], id="pods that are tied to one zone"),
        pytest.param({"zone": ""}, ["a", "b"], id="pods that are tied to none"),
    ],
)
def test_no_team_is_made_of_pods_that_do_not_go_together(
    apart: dict[str, Any], together: list[str]
) -> None:
    sold = wares(row(3) * DOLLAR, np.array([[100, 100]], np.int64))
    first = replace(a_leaver("a", 3, 50), single=frozenset({1}), zone="zone-a")

    assert names(team(first, [replace(a_leaver("b", 3, 40), **apart)], sold)) == together
