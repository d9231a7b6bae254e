"""What is large in an odd way costs about as much as it is long, by counts of work."""

from collections.abc import Callable
from typing import Any

import pytest

from libs.domain.labels import INSTANCE_TYPE as TYPE
from libs.domain.labels import ZONE
from libs.domain.pod import PodShape
from libs.domain.selector import LabelSelector
from libs.domain.topology import PodAffinityTerm, WeightedPodAffinityTerm
from services.solver.core.pods import companions
from services.solver.core.pods.ask import Place
from services.solver.core.pods.shape_index import ShapeIndex
from services.solver.core.topology import tallies
from services.solver.core.topology.algebra import Algebra
from tests.support.builders import (
    a_node_term,
    a_pod,
    a_pool,
    a_port,
    a_shape,
    a_term,
    pods,
    require,
    selecting,
)
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


@pytest.mark.parametrize(
    ("bound", "shapes"),
    [
        pytest.param(
            "MOST_EXCLUDED",
            [
                a_shape(
                    number,
                    required_node_terms=(
                        a_node_term((TYPE, "NotIn", [f"{number}-{one}" for one in range(10)])),
                    ),
                )
                for number in range(8)
            ],
            id="excluded values",
        ),
        pytest.param(
            "MOST_TAKEN",
            [
                a_shape(number, host_ports=tuple(a_port(10 * number + one) for one in range(1, 11)))
                for number in range(8)
            ],
            id="host ports",
        ),
    ],
)
def test_pods_of_one_claim_say_no_more_together_than_a_claim_can_hold(
    bound: str, shapes: list[PodShape], monkeypatch: pytest.MonkeyPatch
) -> None:
    pods = [a_pod(f"pod-{shape.id}", shape.id) for shape in shapes]
    together = plan_of(shapes=shapes, pods=pods)
    monkeypatch.setattr(f"services.solver.core.offers.claim_class.{bound}", 20)
    in_pairs = plan_of(shapes=shapes, pods=pods)
    monkeypatch.setattr(f"services.solver.core.offers.claim_class.{bound}", 5)
    alone = plan_of(shapes=shapes, pods=pods)

    assert [len(one.nodeclaims) for one in (together, in_pairs, alone)] == [1, 4, 8]
    assert not (*in_pairs.unplaced, *alone.unplaced)


def test_a_selector_of_all_but_some_looks_at_those_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = {number: a_shape(number, labels={"id": str(number)}) for number in range(20)}
    index = ShapeIndex(shapes.values(), {})
    selector = LabelSelector(requirements=require(("id", "NotIn", ["3", "5"])))
    monkeypatch.setattr(LabelSelector, "matches", None)

    found = index.matching_all((a_term(selector=selector, namespaces=("default",)),))

    assert found == shapes.keys() - {3, 5}


def test_companions_that_differ_in_other_labels_are_not_looked_at_in_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []
    shared: Callable[..., tuple[Place, ...]] = companions._shared

    def counting(*given: Any) -> tuple[Place, ...]:
        looked_at.append(1)
        return shared(*given)

    monkeypatch.setattr(companions, "_shared", counting)
    count = 20
    plan = plan_of(
        nodepools=[a_pool(requirements=require(("team", "Exists", [])))],
        shapes=[
            a_shape(
                number,
                labels={"app": "web"},
                selector={"team": str(number)},
                affinity=(a_term(ZONE),),
            )
            for number in range(count)
        ],
        pods=[a_pod(f"pod-{number}", number) for number in range(count)],
    )

    assert len(plan.nodeclaims) == count
    assert len(looked_at) <= count


def test_terms_are_looked_up_once_however_many_preferences_are_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_up: list[PodAffinityTerm] = []
    keys: Callable[..., tuple[str, ...]] = tallies._keys

    def counting(terms: tuple[PodAffinityTerm, ...]) -> tuple[str, ...]:
        looked_up.extend(terms)
        return keys(terms)

    monkeypatch.setattr(tallies, "_keys", counting)
    count = 12
    preferred = tuple(
        WeightedPodAffinityTerm(
            weight=1 + number, term=a_term(ZONE, selector=selecting(q=str(number)))
        )
        for number in range(count)
    )
    plan = plan_of(shapes=[a_shape(preferred_affinity=preferred)], pods=pods(1))

    assert len(plan.nodeclaims) == 1
    assert len(looked_up) == count
