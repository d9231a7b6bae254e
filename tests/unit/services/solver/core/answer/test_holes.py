"""No claim allows an offering that is too small, whatever is sold."""

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.checker.claims import Purchase, claim_violations, purchase
from libs.domain import labels as label_keys
from libs.domain.capacity import InstanceType
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.resources import NOTHING
from libs.domain.solution import MinValuesPolicy, SolveOptions
from services.solver.core.solve import solve
from tests.support.builders import (
    a_catalogue,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    a_type,
    amounts,
    an_offering,
)

ZONES = ("zone-a", "zone-b", "zone-c")
CAPACITY_TYPES = ("on-demand", "spot")


@st.composite
def types(draw: st.DrawFn) -> list[InstanceType]:
    """Return types, some of whose offerings have less or more than the type."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        offerings = [
            an_offering(
                zone,
                capacity_type,
                price_nanos_per_hour=draw(st.integers(1, 5)),
                capacity_override=draw(st.sampled_from((NOTHING, amounts(cpu=1), amounts(cpu=8)))),
            )
            for zone in ZONES
            for capacity_type in CAPACITY_TYPES
            if draw(st.booleans())
        ]
        cpu = draw(st.sampled_from((2, 4)))
        if offerings:
            size = amounts(cpu=cpu, memory="64Gi", pods=20)
            found.append(a_type(f"t-{number}", capacity=size, offerings=tuple(offerings)))
    return found or [a_type()]


@settings(max_examples=100)
@given(
    sold=types(),
    cpus=st.lists(st.sampled_from((1, 2, 3, 5)), min_size=1, max_size=3),
    key=st.sampled_from((label_keys.INSTANCE_TYPE, label_keys.ZONE, label_keys.CAPACITY_TYPE)),
    least=st.none() | st.integers(1, 3),
    policy=st.sampled_from(MinValuesPolicy),
)
def test_no_claim_allows_an_offering_that_is_too_small(
    sold: list[InstanceType], cpus: list[int], key: str, least: int | None, policy: MinValuesPolicy
) -> None:
    wanted = Requirement.of(key, Operator.EXISTS, min_values=least)
    snapshot = a_snapshot(
        shapes=[a_shape(number, cpu=str(cpu)) for number, cpu in enumerate(cpus, 1)],
        pods=[a_pod(f"pod-{number}", number) for number in range(1, len(cpus) + 1)],
        nodepools=[a_pool(requirements=Requirements([wanted] if least else []))],
        catalogues=[a_catalogue(*sold)],
    )

    plan = solve(snapshot, SolveOptions(min_values_policy=policy)).plan

    for claim in plan.nodeclaims:
        bought = purchase(snapshot, claim)
        assert isinstance(bought, Purchase)
        said = [one.message for one in claim_violations(bought, [])]
        assert not [one for one in said if "too small" in one]
        for one in claim.requirements:
            assert one.min_values is None or one.complement or one.min_values <= len(one.values)
