"""Reservations and minValues with any mix of pods and types: no promise too many, or too thin."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue, InstanceType, Offering
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.requirement import Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.solution import MinValuesPolicy, SolveOptions
from tests.support.builders import a_catalogue, a_pod, a_pool, a_shape, a_type, amounts, an_offering
from tests.unit.services.solver.core.asking import plan_of

RESERVATION = "example.com/reservation-id"
CAPACITY = {"r-1": 1, "r-2": 2, "r-3": 3}
ZONES = ("zone-a", "zone-b")
SELECTORS: tuple[dict[str, str], ...] = (
    {},
    {label_keys.ZONE: "zone-a"},
    {label_keys.CAPACITY_TYPE: "on-demand"},
)


@st.composite
def offerings(draw: st.DrawFn) -> tuple[Offering, ...]:
    """Return what is sold of a type: on demand in some zones, and some reservations."""
    zones = draw(st.lists(st.sampled_from(ZONES), unique=True, max_size=2))
    found = [an_offering(zone, price_nanos_per_hour=draw(st.integers(1, 5))) for zone in zones]
    held = st.tuples(st.sampled_from(ZONES), st.sampled_from(sorted(CAPACITY)))
    for zone, name in draw(st.lists(held, unique=True, min_size=0 if found else 1, max_size=2)):
        found.append(
            an_offering(
                zone,
                "reserved",
                price_nanos_per_hour=draw(st.integers(0, 5)),
                reservation_id=name,
                reservation_capacity=CAPACITY[name],
            )
        )
    return tuple(sorted(found, key=lambda one: (one.zone, one.capacity_type, one.reservation_id)))


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    types: list[InstanceType] = []
    for number, cpu in enumerate(
        draw(st.lists(st.sampled_from((2, 4, 8)), min_size=1, max_size=4))
    ):
        size = amounts(cpu=cpu, memory="64Gi", pods=20)
        types.append(a_type(f"t-{number}", capacity=size, offerings=draw(offerings())))
    return a_catalogue(*types, well_known_keys=(RESERVATION,))


@settings(max_examples=120)
@given(
    catalogue=catalogues(),
    groups=st.lists(
        st.tuples(st.integers(1, 4), st.sampled_from((1, 2, 3)), st.sampled_from(SELECTORS)),
        min_size=1,
        max_size=4,
    ),
    least=st.none() | st.integers(1, 3),
    policy=st.sampled_from(MinValuesPolicy),
)
def test_no_reservation_is_promised_too_often_and_no_choice_is_too_small(
    catalogue: Catalogue,
    groups: list[tuple[int, int, dict[str, str]]],
    least: int | None,
    policy: MinValuesPolicy,
) -> None:
    wanted = Requirement.of(label_keys.INSTANCE_TYPE, Operator.EXISTS, min_values=least)
    plan = plan_of(
        SolveOptions(min_values_policy=policy),
        shapes=[
            a_shape(number + 1, cpu=str(cpu), selector=selector)
            for number, (_, cpu, selector) in enumerate(groups)
        ],
        pods=[
            a_pod(f"pod-{number}-{index}", number + 1)
            for number, (count, _, _) in enumerate(groups)
            for index in range(count)
        ],
        nodepools=[a_pool(requirements=Requirements([wanted] if least else []))],
        catalogues=[catalogue],
    )

    assert _held(plan) <= Counter(CAPACITY)
    for claim in plan.nodeclaims:
        assert claim.instance_types[0] == claim.cheapest.instance_type
        if least and policy is MinValuesPolicy.STRICT:
            assert len(claim.instance_types) >= least
        _assert_said_minimum_holds(claim)


def _held(plan: Plan) -> Counter[str]:
    """Return how many claims of the plan may still become each reservation."""
    found: Counter[str] = Counter()
    for claim in plan.nodeclaims:
        named = claim.requirements.get(RESERVATION)
        kinds = claim.requirements.get(label_keys.CAPACITY_TYPE)
        assert kinds is not None
        assert (named is not None) is kinds.has("reserved"), "held, and so said"
        if named is not None:
            assert kinds.values == {"reserved"}
            found.update(named.values)
    return found


def _assert_said_minimum_holds(claim: PlannedNodeClaim) -> None:
    listed = claim.requirements.get(label_keys.INSTANCE_TYPE)
    assert listed is not None
    assert listed.values == frozenset(claim.instance_types)
    assert (listed.min_values or 0) <= len(claim.instance_types)
