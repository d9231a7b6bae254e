"""Who comes too late in the order of the queue goes first in another try, at a bounded price."""

from typing import Any

import pytest

from libs.domain.pod import PodRow, PodShape, Target
from libs.domain.reason import TargetKind
from services.solver.core import packed
from services.solver.core.packing.packing import Packer
from tests.support.builders import a_node, a_pod, a_shape, a_term, selecting
from tests.unit.services.solver.core.asking import left_over, on_nodes, plan_of

ONLY_NODE = a_node("n1", labels={"disk": "ssd"})
LARGE = a_shape(1, cpu="3")
TIED = a_shape(2, cpu="2", selector={"disk": "ssd"})
TOO_LARGE = a_shape(3, cpu="100")
DATABASE = a_shape(4, cpu="1", labels={"app": "db"})
BESIDE_DATABASE = a_term(selector=selecting(app="db"))


@pytest.fixture
def packings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many groups each packing was of, filled as they are made."""
    counted: list[int] = []

    def made(problem: Any, cancelled: Any) -> Packer:
        counted.append(len(problem.groups))
        return Packer(problem, cancelled)

    monkeypatch.setattr(packed, "Packer", made)
    return counted


def test_all_is_packed_anew_with_the_latecomer_first(packings: list[int]) -> None:
    plan = plan_of(
        shapes=[LARGE, TIED], pods=[a_pod("large", 1), a_pod("tied", 2)], nodes=[ONLY_NODE]
    )

    assert on_nodes(plan) == {"n1": 1}
    assert left_over(plan) == 0
    # The second packing is of the latecomer alone.
    assert packings == [2, 1, 2]


@pytest.mark.parametrize(
    ("shapes", "pods", "expected"),
    [
        pytest.param([LARGE], [a_pod("large", 1)], [1], id="nobody is left"),
        pytest.param(
            [LARGE, TOO_LARGE],
            [a_pod("large", 1), a_pod("too-large", 3)],
            [2, 1],
            id="who is left could be nowhere",
        ),
        pytest.param(
            [LARGE, DATABASE, a_shape(5, cpu="100", affinity=(BESIDE_DATABASE,))],
            [a_pod("large", 1), a_pod("database", 4), a_pod("too-large", 5)],
            [3, 2],
            id="who is left could be nowhere, with whom it has to be near",
        ),
        pytest.param(
            [a_shape(n, cpu="4", memory=f"{n}Mi", selector={"disk": "ssd"}) for n in range(1, 19)],
            [a_pod(f"pod-{n}", n) for n in range(1, 19)],
            [18],
            id="there is too little for many",
        ),
    ],
)
def test_nothing_is_packed_anew_where_that_helps_nobody(
    packings: list[int], shapes: list[PodShape], pods: list[PodRow], expected: list[int]
) -> None:
    plan_of(shapes=shapes, pods=pods, nodes=[ONLY_NODE])

    assert packings == expected


def test_a_latecomer_brings_those_along_near_whom_it_has_to_be(packings: list[int]) -> None:
    beside = a_shape(5, cpu="100m", labels={"app": "cache"}, affinity=(BESIDE_DATABASE,))
    alone = a_shape(6, cpu="2", anti_affinity=(a_term(selector=selecting(app="cache")),))

    plan = plan_of(
        shapes=[alone, DATABASE, beside],
        pods=[a_pod("alone", 6), a_pod("database", 4), a_pod("beside", 5)],
        nodes=[ONLY_NODE],
    )

    assert left_over(plan) == 0
    assert packings == [3, 2, 3]


def test_the_order_of_the_queue_stays_if_another_places_no_more_pods() -> None:
    plan = plan_of(
        shapes=[LARGE, TIED],
        pods=[a_pod("large", 1), a_pod("tied", 2)],
        nodes=[ONLY_NODE],
        nodepools=[],
    )

    assert [one.pod_uids for one in plan.nominations] == [("uid-large",)]


def test_nobody_who_is_expected_on_a_node_moves_for_a_latecomer() -> None:
    expected = a_pod("large", 1, target=Target(TargetKind.NODE, "n1"))

    plan = plan_of(shapes=[LARGE, TIED], pods=[expected, a_pod("tied", 2)], nodes=[ONLY_NODE])

    assert [one.pod_uids for one in plan.nominations] == [("uid-large",)]
    assert left_over(plan) == 1
