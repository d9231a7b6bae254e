"""What is large in an odd way costs about as much as it is long, by counts of work."""

from collections.abc import Callable
from typing import Any

import pytest

from services.solver.core.algebra import Algebra
from tests.support.builders import a_pod, a_pool, a_shape, require
from tests.unit.services.solver.core.asking import plan_of


@pytest.fixture
def narrowed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the places for which the kernel asks what claims become."""
    asked: list[int] = []
    narrow: Callable[..., int] = Algebra.narrow

    def counting(self: Algebra, known: int, place: int, bounds: Any) -> int:
        asked.append(place)
        return narrow(self, known, place, bounds)

    monkeypatch.setattr(Algebra, "narrow", counting)
    return asked


def test_pods_that_want_a_value_each_are_not_held_against_each_others_claims(
    narrowed: list[int],
) -> None:
    count = 30
    plan = plan_of(
        nodepools=[a_pool(requirements=require(("team", "Exists", [])))],
        shapes=[a_shape(number, selector={"team": str(number)}) for number in range(count)],
        pods=[a_pod(f"pod-{number}", number) for number in range(count)],
    )

    assert len(plan.nodeclaims) == count
    assert len(narrowed) <= 3 * count


def test_pods_that_want_a_pool_each_are_not_held_against_all_pools(narrowed: list[int]) -> None:
    count = 30
    plan = plan_of(
        nodepools=[
            a_pool(f"pool-{number}", labels={"team": str(number)}) for number in range(count)
        ],
        shapes=[a_shape(number, selector={"team": str(number)}) for number in range(count)],
        pods=[a_pod(f"pod-{number}", number) for number in range(count)],
    )

    assert len(plan.nodeclaims) == count
    assert len(narrowed) <= 3 * count
