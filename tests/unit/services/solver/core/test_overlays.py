"""What overlays make of a decision."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.feature_gates import FeatureGate
from libs.domain.overlay import overlaid
from libs.domain.plan import PlannedNodeClaim
from libs.domain.resources import NOTHING
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import SolveOptions
from libs.domain.workload import NodeOverlay
from services.solver.core.solve import solve
from tests.support.builders import (
    a_catalogue,
    a_nodeclaim,
    a_pool,
    a_snapshot,
    a_type,
    an_offering,
    pods,
    require,
)

OPEN = SolveOptions(feature_gates={FeatureGate.NODE_OVERLAY: True})
ZONES = ("zone-a", "zone-b")
KINDS = ("on-demand", "spot")
NAMES = ("t1", "t2", "t3")

_price = st.integers(1, 6)
_catalogues = st.lists(
    st.lists(_price, min_size=4, max_size=4), min_size=len(NAMES), max_size=len(NAMES)
)
_overlays = st.lists(
    st.tuples(
        st.sampled_from((None, *ZONES)),
        st.sampled_from((None, *KINDS)),
        st.sampled_from((None, *NAMES)),
        _price,
    ),
    max_size=4,
)


def a_priced_catalogue(prices: list[list[int]]) -> Catalogue:
    places = [(zone, kind) for zone in ZONES for kind in KINDS]
    return a_catalogue(
        *(
            a_type(
                name,
                offerings=tuple(
                    an_offering(zone, kind, price_nanos_per_hour=price)
                    for (zone, kind), price in zip(places, row, strict=True)
                ),
            )
            for name, row in zip(NAMES, prices, strict=True)
        )
    )


def an_overlay(number: int, where: Sequence[str | None], price: int) -> NodeOverlay:
    """Return an overlay for a zone, a capacity type and a type; None selects all."""
    asked = zip(
        (label_keys.ZONE, label_keys.CAPACITY_TYPE, label_keys.INSTANCE_TYPE), where, strict=True
    )
    return NodeOverlay(
        name=f"o{number}",
        uid=f"o{number}",
        weight=number,
        requirements=require(*((key, "In", [value]) for key, value in asked if value)),
        price_nanos_per_hour=price,
        capacity=NOTHING,
    )


def chosen_by_a_provider(claim: PlannedNodeClaim, catalogue: Catalogue) -> set[tuple[str, ...]]:
    """Return what a provider may take that knows nothing of overlays: its own cheapest."""
    allowed = [
        (one.price_nanos_per_hour, (kind.name, one.zone, one.capacity_type))
        for kind in catalogue.instance_types
        for one in kind.offerings
        if kind.name in claim.instance_types
        and claim.requirements.has_intersection(kind.requirements)
        and claim.requirements.has_intersection(one.requirements)
    ]
    least = min(price for price, _ in allowed)
    return {offering for price, offering in allowed if price == least}


@settings(max_examples=30)
@given(prices=_catalogues, drawn=_overlays)
def test_a_provider_takes_what_overlays_make_cheapest(
    prices: list[list[int]], drawn: list[tuple[str | None, str | None, str | None, int]]
) -> None:
    catalogue = a_priced_catalogue(prices)
    overlays = [an_overlay(number, where, price) for number, (*where, price) in enumerate(drawn)]
    snapshot = a_snapshot(pods=pods(1), catalogues=[catalogue], overlays=overlays)
    sold = overlaid([a_pool()], {catalogue.key: catalogue}, overlays).offers["default"].catalogue
    paid = {
        (kind.name, one.zone, one.capacity_type): one.price_nanos_per_hour
        for kind in sold.instance_types
        for one in kind.offerings
    }

    (claim,) = solve(snapshot, OPEN).plan.nodeclaims

    assert claim.cheapest.price_nanos_per_hour == min(paid.values())
    for offering in chosen_by_a_provider(claim, catalogue):
        assert paid[offering[0], offering[1], offering[2]] == claim.cheapest.price_nanos_per_hour


def a_cluster() -> ClusterSnapshot:
    labels = {
        label_keys.INSTANCE_TYPE: "t1",
        label_keys.ZONE: "zone-a",
        label_keys.CAPACITY_TYPE: "spot",
    }
    return a_snapshot(
        catalogues=[a_priced_catalogue([[5, 5, 5, 5]] * 3)],
        nodeclaims=[a_nodeclaim(labels=labels), a_nodeclaim("other", labels=labels, nodepool="x")],
        overlays=[an_overlay(1, (None, "spot", None), 2)],
    )


@pytest.mark.parametrize(
    ("options", "price"),
    [
        pytest.param(OPEN, 2 + 5, id="the overlay's price, but for a claim whose pool is gone"),
        pytest.param(SolveOptions(), 5 + 5, id="the gate is closed"),
    ],
)
def test_what_exists_costs_what_overlays_say(options: SolveOptions, price: int) -> None:
    assert solve(a_cluster(), options).cost.existing_nanos_per_hour == price


def test_verdicts_are_told_only_where_the_gate_is_open() -> None:
    assert [one.name for one in solve(a_cluster(), OPEN).plan.overlays] == ["o1"]
    assert solve(a_cluster(), SolveOptions()).plan.overlays == ()
