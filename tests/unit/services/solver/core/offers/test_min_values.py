"""minValues: the choice that a claim has to leave."""

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.solution import MinValuesPolicy, SolveOptions
from tests.support.builders import a_catalogue, a_pool, a_type, pods
from tests.unit.services.solver.core.asking import on_new, plan_of, the_rejection

FAMILY = "example.com/family"


def _families(*names: str) -> list[InstanceType]:
    return [a_type(f"{name}-4", labels={FAMILY: name}) for name in names]


@pytest.mark.parametrize(
    ("policy", "least", "placed", "annotation"),
    [
        pytest.param(MinValuesPolicy.STRICT, 2, 1, "false", id="met"),
        pytest.param(MinValuesPolicy.STRICT, 3, 0, "", id="strict and not met"),
        pytest.param(MinValuesPolicy.BEST_EFFORT, 3, 1, "true", id="best effort lowers it"),
    ],
)
def test_min_values_ask_for_a_choice(
    policy: MinValuesPolicy, least: int, placed: int, annotation: str
) -> None:
    wanted = Requirement.of(FAMILY, Operator.EXISTS, min_values=least)
    plan = plan_of(
        SolveOptions(min_values_policy=policy),
        pods=pods(1),
        nodepools=[a_pool(requirements=Requirements((wanted,)))],
        catalogues=[a_catalogue(*_families("c", "m"), well_known_keys=(FAMILY,))],
    )

    assert len(plan.nodeclaims) == placed
    for claim in plan.nodeclaims:
        stated = claim.requirements.get(FAMILY)
        assert stated is not None
        assert stated.min_values == 2
        assert claim.annotations[0][1] == annotation


@pytest.mark.parametrize(
    ("families", "words"),
    [
        pytest.param(("c",), "1 value", id="one"),
        pytest.param(("c", "m"), "2 values", id="two"),
    ],
)
def test_how_many_values_there_are_is_told(families: tuple[str, ...], words: str) -> None:
    wanted = Requirement.of(FAMILY, Operator.EXISTS, min_values=3)
    plan = plan_of(
        pods=pods(1),
        nodepools=[a_pool(requirements=Requirements((wanted,)))],
        catalogues=[a_catalogue(*_families(*families), well_known_keys=(FAMILY,))],
    )

    assert the_rejection(plan).message == (
        f"minValues 3 of {FAMILY} is not met: types that fit have {words}"
    )


def test_a_claim_takes_no_pod_that_would_break_its_choice() -> None:
    wanted = Requirement.of(label_keys.INSTANCE_TYPE, Operator.EXISTS, min_values=3)
    plan = plan_of(pods=pods(8), nodepools=[a_pool(requirements=Requirements((wanted,)))])

    # Of 2, 4, 8 and 16 CPUs three have room for 4 pods.
    assert on_new(plan) == [4, 4]
