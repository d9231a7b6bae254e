"""How often it is asked what a claim becomes: about once for each pod, however claims differ."""

from typing import Any

import pytest

from libs.domain.nodepool import NodePool
from libs.domain.pod import PodShape
from services.solver.core.topology.algebra import Algebra
from tests.support.builders import a_pod, a_pool, a_shape, a_spread, require, selecting
from tests.unit.services.solver.core.asking import left_over, on_new, plan_of

RACK = "example.com/rack"
COUNT = 40


@pytest.fixture
def narrowed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The classes about which it was asked, filled as that is done."""
    asked: list[int] = []
    known = Algebra.narrow

    def counting(algebra: Algebra, *given: Any) -> int:
        asked.append(given[0])
        return known(algebra, *given)

    monkeypatch.setattr(Algebra, "narrow", counting)
    return asked


def _racks(count: int) -> list[str]:
    return [f"r{number:03}" for number in range(count)]


def _spread_over_racks(count: int) -> tuple[list[PodShape], list[NodePool]]:
    web = {"app": "web"}
    shape = a_shape(1, labels=web, topology_spread=(a_spread(RACK, selector=selecting(**web)),))
    return [shape] * count, [a_pool(requirements=require((RACK, "In", _racks(count))))]


def _pools_by_value(count: int) -> tuple[list[PodShape], list[NodePool]]:
    pools = [
        a_pool(f"p{rack}", requirements=require((RACK, "In", [rack, f"{rack}-b"])))
        for rack in _racks(count)
    ]
    return [a_shape(n, selector={RACK: rack}) for n, rack in enumerate(_racks(count), 1)], pools


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(_spread_over_racks, id="a spread over domains that can be bought"),
        pytest.param(_pools_by_value, id="pools that differ in the values of a label"),
    ],
)
def test_who_differs_in_a_label_is_not_asked_about(made: Any, narrowed: list[int]) -> None:
    shapes, pools = made(COUNT)

    plan = plan_of(
        shapes={shape.id: shape for shape in shapes}.values(),
        pods=[a_pod(f"pod-{number:03}", shape.id) for number, shape in enumerate(shapes)],
        nodepools=pools,
    )

    assert (on_new(plan), left_over(plan)) == ([1] * COUNT, 0)
    assert len(narrowed) < 4 * COUNT
