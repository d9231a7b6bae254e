"""Pools that are too small: said of each, found out once for all that sell the same."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from services.solver.core.offers import too_small
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.unsold import Unsold, unsold
from services.solver.core.vectors import Ints
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
