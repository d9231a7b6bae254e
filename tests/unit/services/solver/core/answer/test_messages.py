"""What a plan says of pools beside its pods: where an estimate costs a node."""

import pytest

from libs.domain.reason import Rule
from tests.support.builders import a_catalogue, a_shape, a_type, amounts, pods
from tests.unit.services.solver.core.asking import on_new, plan_of


@pytest.mark.parametrize(
    ("dear", "told"),
    [
        pytest.param(10**9, [], id="the larger type is not bought: its nodes would show nothing"),
        pytest.param(10**7, ["large"], id="the larger type is bought"),
    ],
)
def test_an_estimate_is_doubted_only_of_a_type_that_is_bought(dear: int, told: list[str]) -> None:
    """Two pods ask for 16Gi together; of `large` there are 15.8Gi as far as is known."""
    small = a_type("small", capacity=amounts(cpu=4, memory="9Gi", pods=9), price=10**8)
    large = a_type("large", capacity=amounts(cpu=4, memory="15.8Gi", pods=9), price=dear)

    plan = plan_of(
        shapes=[a_shape(memory="8Gi")],
        pods=pods(2),
        catalogues=[a_catalogue(small, large)],
    )

    assert on_new(plan) == [1, 1]
    messages = [one.message for one in plan.pool_messages if one.rule is Rule.ESTIMATE]
    assert [f"for one {name} less" in text for name, text in zip(told, messages, strict=True)] == [
        True
    ] * len(told)
