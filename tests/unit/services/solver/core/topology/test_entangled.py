"""Rules about other pods that are too many to count: who waits, and that nobody else does."""

import pytest

from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm
from services.solver.core.pods.shape_index import ShapeIndex
from tests.support.builders import a_node, a_pod, a_shape, a_spread, a_term, require, selecting
from tests.unit.services.solver.core.asking import on_new, plan_of

MANY = 12


def all_but(name: str) -> PodAffinityTerm:
    others = LabelSelector(requirements=require(("id", "NotIn", [name])))
    return a_term(selector=others, namespaces=("default",))


def odd(number: int) -> PodShape:
    """Return a shape that keeps away from all others."""
    name = f"odd-{number}"
    return a_shape(number, labels={"id": name}, anti_affinity=(all_but(name),))


def usual(number: int) -> PodShape:
    """Return a shape that keeps away from its own kind."""
    name = f"usual-{number}"
    apart = (a_term(selector=selecting(id=name), namespaces=("default",)),)
    return a_shape(number, labels={"id": name}, anti_affinity=apart)


def some_room(monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    monkeypatch.setattr("services.solver.core.topology.entangled.MOST_PAIRS", pairs)


def test_who_selects_most_waits_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [*map(odd, range(1, MANY + 1)), *map(usual, range(101, 101 + MANY))]
    pods = [a_pod(f"pod-{shape.id}", shape.id) for shape in shapes]
    some_room(monkeypatch, pairs=200)

    plan = plan_of(shapes=shapes, pods=pods)

    waiting = {uid for one in plan.unplaced for uid in one.pod_uids}
    assert waiting < {one.uid for one in pods[:MANY]}
    assert len(waiting) == 9
    (reason, *_) = [one.reason for one in plan.unplaced]
    assert "rules about other pods" in reason.message


def test_who_waits_tells_the_nodes_that_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    some_room(monkeypatch, pairs=0)

    plan = plan_of(shapes=[odd(1)], pods=[a_pod("pod-1", 1)], nodes=[a_node("n1")])

    (left,) = plan.unplaced
    assert left.reason.existing == ((Rule.POD_ANTI_AFFINITY, 1),)


def test_within_the_bound_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = list(map(odd, range(1, MANY + 1)))
    pods = [a_pod(f"pod-{shape.id}", shape.id) for shape in shapes]
    some_room(monkeypatch, pairs=2 * MANY * MANY)

    assert not plan_of(shapes=shapes, pods=pods).unplaced


def test_equal_rules_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spread = [a_spread(selector=selecting(app="web")) for _ in range(MANY)]
    shapes = [
        a_shape(number, cpu=f"{number}m", labels={"app": "web"}, topology_spread=(one,))
        for number, one in enumerate(spread, start=1)
    ]
    pods = [a_pod(f"pod-{shape.id}", shape.id) for shape in shapes]
    some_room(monkeypatch, pairs=MANY)

    plan = plan_of(shapes=shapes, pods=pods)

    assert sum(on_new(plan)) == MANY


def test_rules_of_pods_that_run_count_for_those_they_are_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = list(map(odd, range(1, MANY + 1)))
    plain = a_shape(50, labels={"id": "plain"})
    there = [a_pod(f"pod-{shape.id}", shape.id, node=f"n{shape.id}") for shape in running]
    some_room(monkeypatch, pairs=MANY - 1)

    plan = plan_of(
        shapes=[*running, plain],
        pods=[*there, a_pod("pod-plain", 50)],
        nodes=[a_node(f"n{shape.id}") for shape in running],
    )

    assert [one.pod_uids for one in plan.unplaced] == [("uid-pod-plain",)]


def test_pods_of_other_namespaces_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [a_shape(one, namespace=f"team-{one}", labels={"app": "web"}) for one in range(40)]
    index = ShapeIndex(shapes, {})
    looked_at: list[int] = []
    shape_of = ShapeIndex.shape

    def counting(self: ShapeIndex, number: int) -> PodShape:
        looked_at.append(number)
        return shape_of(self, number)

    monkeypatch.setattr(ShapeIndex, "shape", counting)
    term = a_term(selector=selecting(app="web"), namespaces=("team-7", "team-9"))

    assert index.matching_all((term,)) == {7, 9}
    assert index.most_matching(term) == len(looked_at) == 2
