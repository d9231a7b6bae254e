"""Preferences are given up one at a time, and several at a time where they are very many."""

from typing import Any

import pytest

from libs.domain.pod import PodShape
from libs.domain.solution import PreferencePolicy
from libs.domain.topology import PreferredNodeTerm, WeightedPodAffinityTerm
from services.solver.core.pods.ask import MOST_STEPS, Ask, asks
from tests.support.builders import a_shape, a_spread, a_term, require, selecting


def _wishes(shape: PodShape) -> tuple[Ask, ...]:
    return asks(shape, PreferencePolicy.RESPECT, prefer_no_schedule=False)


def _near(count: int) -> tuple[WeightedPodAffinityTerm, ...]:
    return tuple(
        WeightedPodAffinityTerm(weight=1, term=a_term(selector=selecting(app=str(number))))
        for number in range(count)
    )


def _soft(count: int) -> tuple[Any, ...]:
    return tuple(a_spread(f"example.com/{number}", required=False) for number in range(count))


def test_preferences_are_given_up_one_at_a_time_the_first_one_first() -> None:
    near = _near(3)

    found = _wishes(a_shape(preferred_affinity=near))

    terms = [(one.term,) for one in near]
    assert [list(one.affinity) for one in found] == [terms, terms[1:], terms[2:], []]


@pytest.mark.parametrize(
    ("field", "wishes"),
    [
        pytest.param("preferred_affinity", _near, id="to be near"),
        pytest.param("preferred_anti_affinity", _near, id="to be apart"),
        pytest.param("topology_spread", _soft, id="to be spread"),
        pytest.param(
            "preferred_node_terms",
            lambda count: (
                (PreferredNodeTerm(weight=1, requirements=require(("x", "Exists"))),) * count
            ),
            id="labels",
        ),
    ],
)
@pytest.mark.parametrize("times", [1, 2, 10])
def test_however_many_preferences_there_are_steps_are_bounded(
    field: str, wishes: Any, times: int
) -> None:
    found = _wishes(a_shape(**{field: wishes(MOST_STEPS * times)}))

    assert len(found) == MOST_STEPS + 1
    last = found[-1]
    assert (last.spread, last.affinity, last.anti_affinity) == ((), (), ())


def test_what_is_required_is_never_given_up() -> None:
    required = a_spread("example.com/required")
    many = _soft(MOST_STEPS + 1)

    found = _wishes(a_shape(topology_spread=(*many[:9], required, *many[9:])))

    assert all(required in one.spread for one in found)
    assert found[-1].spread == (required,)
