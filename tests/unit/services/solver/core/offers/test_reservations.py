"""Reserved capacity: taken first, counted, waited for."""

from dataclasses import replace
from typing import Any

from libs.domain import labels as label_keys
from libs.domain.reason import Rule
from libs.domain.solution import SolveOptions
from tests.support.builders import a_catalogue, a_shape, a_type, amounts, an_offering, pods
from tests.unit.services.solver.core.asking import on_new, plan_of, the_claim, the_rejection

RESERVED = an_offering(
    "zone-a",
    "reserved",
    price_nanos_per_hour=1,
    reservation_id="r-1",
    reservation_capacity=1,
)


def test_reserved_capacity_is_taken_first_and_stated() -> None:
    kind = a_type(offerings=(RESERVED, an_offering("zone-a")))
    claim = the_claim(plan_of(pods=pods(1), catalogues=[a_catalogue(kind, **RESERVABLE)]))

    stated = {one.key: sorted(one.values) for one in claim.requirements}
    assert stated[label_keys.CAPACITY_TYPE] == ["reserved"]
    assert stated["example.com/reservation-id"] == ["r-1"]


def test_pods_wait_for_the_next_plan_where_all_reserved_instances_are_promised() -> None:
    kind = a_type(offerings=(RESERVED, an_offering("zone-a")))
    plan = plan_of(
        shapes=[a_shape(cpu="3")], pods=pods(2), catalogues=[a_catalogue(kind, **RESERVABLE)]
    )

    assert on_new(plan) == [1]
    assert the_rejection(plan).rule is Rule.RESERVATIONS
    assert plan.unplaced[0].reason.deferred


def test_nobody_waits_for_a_reservation_without_instances() -> None:
    empty = replace(RESERVED, reservation_capacity=0)
    kind = a_type(offerings=(empty, an_offering("zone-a")))
    plan = plan_of(pods=pods(1), catalogues=[a_catalogue(kind, **RESERVABLE)])

    assert the_claim(plan).cheapest.capacity_type == "on-demand"


def test_with_the_gate_off_reserved_instances_are_not_counted() -> None:
    kind = a_type(offerings=(RESERVED, an_offering("zone-a")))
    off = SolveOptions(feature_gates={"ReservedCapacity": False})
    plan = plan_of(
        off,
        shapes=[a_shape(cpu="3")],
        pods=pods(2),
        catalogues=[a_catalogue(kind, **RESERVABLE)],
    )

    assert on_new(plan) == [1, 1]


RESERVABLE: dict[str, Any] = {"well_known_keys": ("example.com/reservation-id",)}


def test_who_waits_for_a_reservation_joins_a_node_that_others_open() -> None:
    small = a_type("r-4", offerings=(RESERVED,))
    large = a_type(
        "g-8",
        capacity=amounts(cpu=8, memory="16Gi", pods=10, gpu=1),
        offerings=(an_offering("zone-a"),),
    )
    plan = plan_of(
        shapes=[a_shape(1, cpu="3"), a_shape(2, cpu="1", extra=amounts(gpu=1))],
        pods=[*pods(2, 1), *pods(1, 2)],
        catalogues=[a_catalogue(small, large, **RESERVABLE)],
    )

    assert sorted(on_new(plan)) == [1, 2]


def test_a_reservation_is_empty_if_any_of_its_offerings_says_so() -> None:
    empty = a_type("r-2", offerings=(replace(RESERVED, reservation_capacity=0),))
    kind = a_type(offerings=(RESERVED, an_offering("zone-a")))
    plan = plan_of(pods=pods(1), catalogues=[a_catalogue(empty, kind, **RESERVABLE)])

    assert the_claim(plan).cheapest.capacity_type == "on-demand"
