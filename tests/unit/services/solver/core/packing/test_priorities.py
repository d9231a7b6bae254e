"""Priority decides who gets a place where there is too little for all, and costs nothing else."""

from typing import Any

import pytest

from services.solver.core import packed
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.priorities import by_priority
from services.solver.core.pods.grouping import Group
from tests.support.builders import a_node, a_pod, a_shape, amounts
from tests.unit.services.solver.core.asking import left_over, plan_of

SMALL, LARGE, HUGE = a_shape(1, cpu="1"), a_shape(2, cpu="3"), a_shape(3, cpu="100")


def a_group(*pods: tuple[str, int], gang: str = "", virtual: bool = False, layer: int = 0) -> Group:
    return Group(
        shape=SMALL,
        uids=tuple(uid for uid, _ in pods),
        gangs=(gang,) * len(pods),
        targets=(None,) * len(pods),
        priorities=tuple(priority for _, priority in pods),
        virtual=virtual,
        existing_only=False,
        layer=layer,
    )


def layers(groups: tuple[Group, ...]) -> list[tuple[int, tuple[str, ...]]]:
    return [(group.layer, group.uids) for group in groups]


@pytest.mark.parametrize(
    ("groups", "levels", "expected"),
    [
        pytest.param(
            [a_group(("a", 0), ("b", 5), ("c", 9))],
            [5],
            [(-1, ("b", "c")), (0, ("a",))],
            id="a group is cut where a priority begins",
        ),
        pytest.param(
            [a_group(("a", 0)), a_group(("b", 5)), a_group(("c", 9))],
            [5, 9],
            [(0, ("a",)), (-1, ("b",)), (-2, ("c",))],
            id="groups stay in their order, within a layer",
        ),
        pytest.param(
            [a_group(("a", 0), ("b", 5), gang="g"), a_group(("c", 3))],
            [5],
            [(-1, ("a", "b")), (0, ("c",))],
            id="a gang has the highest priority of its pods",
        ),
        pytest.param(
            [a_group(("a", 0)), a_group(("b", 9), virtual=True)],
            [5],
            [(0, ("a",)), (0, ("b",))],
            id="pods of buffers come last",
        ),
        pytest.param(
            [a_group(("a", 7), layer=-1), a_group(("b", 7)), a_group(("c", 9))],
            [9],
            [(-1, ("a",)), (0, ("b",)), (-2, ("c",))],
            id="layers that were given stay within a priority",
        ),
        pytest.param(
            [a_group(("a", 0), ("z", 20))],
            range(1, 21),
            [(-1, ("z",)), (0, ("a",))],
            id="of many priorities the highest are told apart",
        ),
    ],
)
def test_groups_are_put_in_layers_by_priority(
    groups: list[Group], levels: list[int], expected: list[tuple[int, tuple[str, ...]]]
) -> None:
    assert layers(by_priority(groups, levels)) == expected


@pytest.fixture
def packings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many groups each packing was of, filled as they are made."""
    counted: list[int] = []

    def made(problem: Any, cancelled: Any) -> Packer:
        counted.append(len(problem.groups))
        return Packer(problem, cancelled)

    monkeypatch.setattr(packed, "Packer", made)
    return counted


@pytest.mark.parametrize(
    ("pods", "left", "expected"),
    [
        pytest.param(
            [a_pod("low", 2), a_pod("high", 1, priority=5)],
            0,
            [2],
            id="nobody is left",
        ),
        pytest.param(
            [a_pod("low", 2), a_pod("lower", 1, priority=-1), a_pod("other", 1, priority=-1)],
            1,
            [2, 1, 2, 1, 2],
            id="nobody is left for one of a lower priority: only latecomers are tried",
        ),
        pytest.param(
            [a_pod("low", 2), a_pod("high", 3, priority=5)],
            1,
            [2, 1, 1],
            id="who is left could be nowhere",
        ),
        pytest.param(
            [a_pod("low", 2), *(a_pod(f"high-{one}", 1, priority=5) for one in range(3))],
            1,
            [2, 1, 2, 1, 2],
            id="who is left goes first, then latecomers are tried",
        ),
    ],
)
def test_all_is_packed_anew_only_where_priority_may_decide(
    pods: list[Any], left: int, expected: list[int], packings: list[int]
) -> None:
    plan = plan_of(shapes=[SMALL, LARGE, HUGE], pods=pods, nodes=[a_node("n1")], nodepools=[])

    assert left_over(plan) == left
    assert packings == expected


def test_who_goes_first_displaces_nobody_of_a_higher_priority_than_one_who_stays() -> None:
    shapes = [
        a_shape(1, cpu="4", memory="10Gi"),
        a_shape(2, cpu="50m", memory="20Gi"),
        *(a_shape(number, cpu=f"{number}m", memory="1Gi") for number in range(60, 80)),
    ]
    middle = [a_pod(f"middle-{one.id}", one.id, priority=2) for one in shapes[2:]]
    pods = [a_pod("low", 1), a_pod("high", 2, priority=3), *middle]
    node = a_node("n1", allocatable=amounts(cpu=8, memory="32Gi", pods=110))

    plan = plan_of(shapes=shapes, pods=pods, nodes=[node], nodepools=[])

    assert "uid-low" in plan.without_place()
    assert "uid-high" not in plan.without_place()
    assert left_over(plan) == 1 + 8
