"""The index of standing classes answers what asking each class would, and asks none of them."""

from dataclasses import replace

import pytest

from libs.domain.requirement import Requirement
from libs.domain.requirements import Requirements
from libs.domain.taint import (
    HARD_EFFECTS,
    Effect,
    Taint,
    Toleration,
    TolerationOperator,
)
from libs.runtime.randomness import Random
from services.solver.core.pods.bearing import bears
from services.solver.core.standing.class_index import ClassIndex
from services.solver.core.standing.standing import UNSCHEDULABLE, StandingClass
from tests.support.builders import a_shape

KEYS = ("a", "b")
VALUES = ("1", "2", "03", "x", "-1", "")


def _class(random_: Random) -> StandingClass:
    labels = {key: random_.choice(VALUES) for key in KEYS if random_.random() < 0.8}
    taints = tuple(
        Taint(key=key, effect=effect, value=random_.choice(VALUES))
        for key in KEYS
        for effect in Effect
        if random_.random() < 0.3
    )
    return StandingClass(labels=labels, taints=taints, cordoned=random_.random() < 0.3)


def _toleration(random_: Random) -> Toleration:
    operator = random_.choice(list(TolerationOperator))
    return Toleration(
        key=random_.choice((*KEYS, "", UNSCHEDULABLE.key)),
        operator=operator,
        value="" if operator is TolerationOperator.EXISTS else random_.choice(VALUES),
        effect=random_.choice((None, *Effect)),
    )


def _requirement(random_: Random) -> Requirement:
    operator = random_.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"))
    values = tuple(random_.sample(VALUES, 2)) if operator in ("In", "NotIn") else ()
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        values = (random_.choice(("0", "1", "2", "-4")),)
    return Requirement.of(random_.choice(KEYS), operator, values)


@pytest.mark.parametrize("seed", range(30))
def test_taints_are_borne_as_each_class_says(seed: int) -> None:
    random_ = Random(seed)
    classes = [_class(random_) for _ in range(20)]
    index = ClassIndex(classes)
    for effects in (HARD_EFFECTS, frozenset(Effect)):
        tolerations = tuple(_toleration(random_) for _ in range(random_.randrange(4)))
        shape = replace(a_shape(1), tolerations=tolerations)
        assert index.tolerated(shape, effects, cordons=False).tolist() == [
            bears(shape, one.taints, effects) for one in classes
        ]
        assert index.tolerated(shape, effects).tolist() == [
            bears(shape, (*one.taints, *(UNSCHEDULABLE,) * one.cordoned), effects)
            for one in classes
        ]


@pytest.mark.parametrize("seed", range(30))
def test_labels_are_allowed_as_each_class_says(seed: int) -> None:
    random_ = Random(seed)
    classes = [_class(random_) for _ in range(20)]
    index = ClassIndex(classes)
    for _ in range(10):
        asked = Requirements(_requirement(random_) for _ in range(random_.randrange(3)))
        assert index.allowing(asked).tolist() == [one.allows(asked) for one in classes]


def test_a_pod_costs_what_it_names_and_not_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    taints = [Taint(key=f"k{number}", effect=Effect.NO_SCHEDULE) for number in range(50)]
    classes = [
        StandingClass(labels={"a": taint.key}, taints=(taint,), cordoned=False) for taint in taints
    ]
    index = ClassIndex(classes)
    looked_at: list[Taint] = []
    shape = a_shape(1)

    def counting(own: object, given: tuple[Taint, ...], effects: object) -> tuple[Taint, ...]:
        looked_at.extend(given)
        return ()

    monkeypatch.setattr("services.solver.core.standing.class_index.not_borne", counting)
    bearing = replace(
        shape, tolerations=(Toleration(key="k7", operator=TolerationOperator.EXISTS),)
    )
    assert index.tolerated(bearing, HARD_EFFECTS).nonzero()[0].tolist() == [7]
    assert looked_at == [taints[7]]
