"""Pools that are too small: said of each, found out once for all that sell the same."""

from typing import Any

import numpy as np
import pytest

from libs.domain import labels as label_keys
from services.solver.core import sizes, too_small
from services.solver.core.claim_class import ClaimClass
from services.solver.core.sizes import Sizes
from services.solver.core.unsold import Unsold, unsold
from services.solver.core.vectors import Bools, Ints, covering
from tests.support.builders import ZONES, a_pod, a_pool, a_shape, require
from tests.unit.services.solver.core.asking import left_over, plan_of

POOLS, SHAPES = 12, 5


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pools whose types were searched for the nearest one, in order."""
    found: list[str] = []

    def counting(one: ClaimClass, asked: Ints) -> Unsold | None:
        found.append(one.template.pool.name)
        return unsold(one, asked)

    monkeypatch.setattr(too_small, "unsold", counting)
    return found


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows of room were compared each time."""
    found: list[int] = []

    def counting(room: Ints, request: Ints) -> Bools:
        found.append(len(room))
        return covering(room, request)

    monkeypatch.setattr(sizes, "covering", counting)
    return found


def _crowd() -> dict[str, Any]:
    pools = [a_pool(f"pool-{number:02}", labels={"team": str(number)}) for number in range(POOLS)]
    shapes = [a_shape(number, cpu=f"{9000 + number}") for number in range(SHAPES)]
    return {
        "nodepools": pools,
        "shapes": shapes,
        "pods": [a_pod(f"pod-{shape.id}", shape.id) for shape in shapes],
    }


def test_pools_that_sell_the_same_are_searched_once_for_each_request(looked_at: list[str]) -> None:
    plan = plan_of(**_crowd())

    assert left_over(plan) == SHAPES
    assert len(looked_at) == SHAPES


def test_each_of_them_is_told_of_by_its_name() -> None:
    plan = plan_of(**_crowd())

    for unplaced in plan.unplaced:
        assert [one.target for one in unplaced.reason.rejections] == [
            f"pool-{number:02}" for number in reversed(range(POOLS))
        ]
        assert len({one.message for one in unplaced.reason.rejections}) == 1


def test_pools_that_sell_something_else_are_searched_by_themselves(looked_at: list[str]) -> None:
    given = _crowd()
    zoned = a_pool("zoned", requirements=require((label_keys.ZONE, "In", list(ZONES[:1]))))

    plan_of(**given | {"nodepools": [*given["nodepools"], zoned]})

    assert looked_at.count("zoned") == SHAPES
    assert len(looked_at) == 2 * SHAPES


def test_all_pools_are_asked_at_once_whether_they_are_large_enough(compared: list[int]) -> None:
    plan_of(**_crowd())

    assert len(compared) == SHAPES


@pytest.mark.parametrize(
    ("asked", "suiting"),
    [
        pytest.param([1, 1], [0, 2], id="fits under a row of two"),
        pytest.param([4, 4], [], id="no row has as much of both"),
        pytest.param([1, 4], [0], id="the other row of the first"),
    ],
)
def test_a_pool_suits_that_has_one_row_with_room(asked: list[int], suiting: list[int]) -> None:
    rooms = [np.array([[4, 1], [1, 4]]), np.zeros((0, 2), np.int64), np.array([[2, 2]])]

    assert Sizes(rooms).suiting(np.array(asked)) == suiting
