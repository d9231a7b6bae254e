"""Lower bounds: what they are where it is known, and that nothing valid is below."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.domain import labels as label_keys
from libs.domain.pod import HostPort
from libs.domain.solution import SolveOptions
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.offers.template import Template
from services.solver.core.packed import packed
from services.solver.core.packing.encode import encode
from services.solver.core.refining.bound import Bound, certified, lower_bound
from services.solver.core.refining.fluid import Fluid, Placed, fluid
from services.solver.core.refining.linear import Prices
from services.solver.core.refining.quick import quick_bound
from services.solver.core.vectors import Ints
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_node,
    a_shape,
    a_snapshot,
    a_term,
    a_type,
    amounts,
    an_offering,
    pods,
    selecting,
    some_types,
)

CPU_PRICE = 45_000_000
"""Of one CPU of `some_types`, spot."""


def flows(**collections: Any) -> tuple[Fluid, int]:
    """Return the fluid of a snapshot, and the quick bound."""
    snapshot = a_snapshot(**collections)
    encoded = encode(snapshot, SolveOptions(), NOW, NOTHING_REMEMBERED)
    found = packed(encoded, lambda: False)
    placed = Placed(
        problem=found.problem,
        namespaces=snapshot.namespaces,
        counts=found.counts,
        asks=[asks[-1] for asks in found.problem.asks],
    )

    def price_of(template: Template) -> Ints:
        return template.offers.paid_price

    return fluid(placed, price_of), quick_bound(found.problem, found.packer.bins, price_of)


def apart(number: int = 1, **override: Any) -> Any:
    term = a_term(topology_key=label_keys.HOSTNAME, selector=selecting(app="web"))
    return a_shape(number, anti_affinity=(term,), **override)


DEAR = a_type("dear", price=10**9, offerings=(an_offering("zone-b", price_nanos_per_hour=10**9),))
RESERVED = an_offering(
    "zone-a",
    "reserved",
    price_nanos_per_hour=1,
    reservation_id="r-1",
    reservation_capacity=2,
)


@pytest.mark.parametrize(
    ("collections", "nanos"),
    [
        pytest.param({"pods": pods(1)}, 2 * CPU_PRICE, id="one pod needs a whole node"),
        pytest.param({"pods": pods(30)}, 30 * CPU_PRICE, id="what is bought in total"),
        pytest.param(
            {"shapes": [a_shape(cpu="1500m")], "pods": pods(10)},
            10 * 2 * CPU_PRICE * 4 // 5,
            id="five of a kind on eight CPUs, not five and a third",
        ),
        pytest.param(
            {"shapes": [apart()], "pods": pods(10)}, 10 * 2 * CPU_PRICE, id="one to a host"
        ),
        pytest.param(
            {"shapes": [a_shape(host_ports=(HostPort(port=80),))], "pods": pods(10)},
            10 * 2 * CPU_PRICE,
            id="one port to a host",
        ),
        pytest.param(
            {
                "shapes": [a_shape(selector={label_keys.ZONE: "zone-b"})],
                "pods": pods(1),
                "catalogues": [a_catalogue(DEAR, a_type("a", offerings=(an_offering("zone-a"),)))],
            },
            10**9,
            id="only where it may run",
        ),
        pytest.param(
            {
                "shapes": [a_shape(cpu="4")],
                "pods": pods(2),
                "catalogues": [
                    a_catalogue(
                        a_type(offerings=(RESERVED, an_offering("zone-a"))),
                        well_known_keys=("example.com/reservation-id",),
                    )
                ],
            },
            2,
            id="reserved instances as far as there are any",
        ),
        pytest.param(
            {"pods": pods(2), "nodes": [a_node()]}, 0, id="room that stands costs nothing"
        ),
    ],
)
def test_a_bound_is_what_can_be_reckoned(collections: dict[str, Any], nanos: int) -> None:
    flow, quick = flows(**collections)

    found = lower_bound(flow).nanos_per_hour

    assert found == pytest.approx(nanos, rel=1e-6, abs=2)
    assert quick <= found * (1 + 1e-6) + 2


def test_reserved_instances_beyond_those_there_are_cost_what_others_cost() -> None:
    kind = a_type(offerings=(RESERVED, an_offering("zone-a")))
    sold = a_catalogue(kind, well_known_keys=("example.com/reservation-id",))
    flow, _ = flows(shapes=[a_shape(cpu="4")], pods=pods(2), catalogues=[sold])
    more = Fluid(
        groups=flow.groups,
        count=flow.count + 3,
        request=flow.request,
        kinds=flow.kinds,
        offers=flow.offers,
        usable=flow.usable,
        free=flow.free,
        cap=flow.cap,
    )

    assert lower_bound(more).nanos_per_hour == pytest.approx(3 * 10**9, rel=1e-6)


def many_shapes(count: int) -> dict[str, Any]:
    shapes = [
        a_shape(number, cpu=f"{100 + 37 * number % 1900}m", memory=f"{200 + 91 * number % 6000}Mi")
        for number in range(1, count + 1)
    ]
    return {
        "shapes": shapes,
        "pods": [one for number in range(1, count + 1) for one in pods(2, number)],
        "catalogues": [a_catalogue(*some_types(2, 4, 8, 16), WIDE)],
    }


WIDE = a_type("wide", capacity=amounts(cpu=4, memory="64Gi", pods=110), price=330_000_000)


def test_joining_groups_costs_next_to_nothing_of_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, quick = flows(**many_shapes(150))

    joined = lower_bound(flow)
    monkeypatch.setattr("services.solver.core.refining.sifting.MOST_GROUPS", 1000)
    exact = lower_bound(flow)

    assert 0.99 * exact.nanos_per_hour < joined.nanos_per_hour <= exact.nanos_per_hour * (1 + 1e-6)
    assert quick <= exact.nanos_per_hour


def test_what_pods_are_worth_adds_up_to_the_bound() -> None:
    flow, _ = flows(**many_shapes(20))

    found = lower_bound(flow)

    assert float(found.worth @ flow.count) == pytest.approx(found.nanos_per_hour, rel=1e-6)


def test_no_prices_whatever_give_a_bound_above_the_optimum() -> None:
    flow, _ = flows(**many_shapes(12))
    best = lower_bound(flow).nanos_per_hour

    @settings(max_examples=50, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32 - 1))
    def check(seed: int) -> None:
        assert drawn(flow, seed).nanos_per_hour <= best * (1 + 1e-6)

    check()


def drawn(flow: Fluid, seed: int) -> Bound:
    """Return the bound that random prices give."""
    dice = np.random.default_rng(seed)
    found = Prices(
        room=dice.exponential(size=flow.offers.room.shape) * dice.integers(0, 2),
        free=dice.exponential(size=flow.free.shape),
        stock=dice.exponential(size=flow.offers.left.shape),
        bought=np.zeros_like(flow.offers.price),
        worth=np.zeros_like(flow.count),
    )
    return certified(flow, found)
