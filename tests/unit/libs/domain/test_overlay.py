"""Which overlays are in force, and what they make of prices and capacities."""

from collections.abc import Iterable, Mapping
from itertools import permutations
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.capacity import Catalogue
from libs.domain.overlay import Overlaid, completed, overlaid
from libs.domain.overlay_ledger import adjusted
from libs.domain.price_change import HIGHEST_NANOS_PER_HOUR
from libs.domain.resources import NOTHING
from libs.domain.workload import NodeOverlay
from tests.support.builders import (
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pool,
    a_snapshot,
    a_type,
    amounts,
    an_offering,
    require,
)

GPU = "nvidia.com/gpu"
DOLLAR = 10**9
CATALOGUE = a_catalogue(a_type("m-4"), a_type("c-4", labels={"family": "c"}))
EVERYTHING = require()
SPOT = require((label_keys.CAPACITY_TYPE, "In", ["spot"]))
ON_DEMAND = require((label_keys.CAPACITY_TYPE, "In", ["on-demand"]))
M4 = require((label_keys.INSTANCE_TYPE, "In", ["m-4"]))


def an_overlay(name: str = "one", **override: Any) -> NodeOverlay:
    given: dict[str, Any] = {"requirements": EVERYTHING, "capacity": NOTHING} | override
    return NodeOverlay(name=name, uid=name, **given)


def evaluated(
    *overlays: NodeOverlay, pools: Iterable[Any] = (a_pool(),), catalogue: Catalogue = CATALOGUE
) -> Overlaid:
    return overlaid(pools, {catalogue.key: catalogue}, overlays)


def prices(found: Overlaid, pool: str = "default") -> Mapping[tuple[str, str, str], int]:
    return {
        (kind.name, one.zone, one.capacity_type): one.price_nanos_per_hour
        for kind in found.offers[pool].catalogue.instance_types
        for one in kind.offerings
    }


def changed(found: Overlaid, pool: str = "default") -> set[tuple[str, str, str]]:
    """Return the offerings whose price is not the catalogue's."""
    before = prices(evaluated())
    return {key for key, price in prices(found, pool).items() if price != before[key]}


def problems(found: Overlaid) -> dict[str, str]:
    assert all(one.applied is not bool(one.problem) for one in found.verdicts)
    return {one.name: one.problem for one in found.verdicts}


@pytest.mark.parametrize(
    ("change", "price"),
    [
        pytest.param({}, DOLLAR, id="none"),
        pytest.param({"price_nanos_per_hour": 5}, 5, id="absolute"),
        pytest.param({"price_nanos_per_hour": 0}, 0, id="nothing at all"),
        pytest.param({"price_delta_nanos_per_hour": 5}, DOLLAR + 5, id="added"),
        pytest.param({"price_delta_nanos_per_hour": -5}, DOLLAR - 5, id="taken off"),
        pytest.param({"price_delta_nanos_per_hour": -2 * DOLLAR}, 0, id="never below zero"),
        pytest.param({"price_delta_ppm": -680_000}, 320_000_000, id="percents off"),
        pytest.param({"price_delta_ppm": 100_000}, 1_100_000_000, id="percents added"),
        pytest.param({"price_delta_ppm": -1_000_000}, 0, id="all percents off"),
        pytest.param({"price_delta_ppm": 10**18}, HIGHEST_NANOS_PER_HOUR, id="absurd"),
    ],
)
def test_a_price_is_replaced_shifted_or_scaled(change: dict[str, Any], price: int) -> None:
    assert adjusted(DOLLAR, an_overlay(**change)) == price


@pytest.mark.parametrize(
    ("requirements", "offerings"),
    [
        pytest.param(EVERYTHING, 12, id="everything"),
        pytest.param(SPOT, 6, id="a capacity type"),
        pytest.param(M4, 6, id="a type"),
        pytest.param(M4.intersection(SPOT), 3, id="both"),
        pytest.param(require((label_keys.ZONE, "In", ["zone-a"])), 4, id="a zone"),
        pytest.param(require((label_keys.ZONE, "NotIn", ["zone-a"])), 8, id="other zones"),
        pytest.param(require((label_keys.NODEPOOL, "In", ["default"])), 12, id="the pool"),
        pytest.param(require((label_keys.NODEPOOL, "In", ["other"])), 0, id="another pool"),
        pytest.param(require(("team", "In", ["a"])), 12, id="a label of the template"),
        pytest.param(require(("team", "In", ["b"])), 0, id="another value of that label"),
        pytest.param(require(("family", "In", ["c"])), 6, id="a label that one type has"),
        pytest.param(require(("family", "DoesNotExist")), 6, id="a label that one type lacks"),
        pytest.param(require(("nobody", "Exists")), 0, id="a label that nothing has"),
        pytest.param(
            require((label_keys.WINDOWS_BUILD, "In", ["10.0.1"])),
            0,
            id="a well-known label that no type states",
        ),
    ],
)
def test_an_overlay_changes_the_offerings_that_it_selects(
    requirements: Any, offerings: int
) -> None:
    overlay = an_overlay(requirements=requirements, price_nanos_per_hour=1)

    found = evaluated(overlay, pools=[a_pool(labels={"team": "a"})])

    assert len(changed(found)) == offerings
    assert problems(found) == {"one": ""}


def test_the_highest_weight_has_the_price_and_lower_ones_fill_gaps() -> None:
    found = evaluated(
        an_overlay("low", weight=1, price_nanos_per_hour=7),
        an_overlay("high", weight=2, requirements=SPOT, price_nanos_per_hour=9),
    )

    assert set(prices(found).values()) == {7, 9}
    assert {key[2] for key, price in prices(found).items() if price == 9} == {"spot"}
    assert problems(found) == {"low": "", "high": ""}


def test_percents_are_of_the_providers_price_not_of_another_overlays() -> None:
    found = evaluated(
        an_overlay("high", weight=2, requirements=SPOT, price_nanos_per_hour=1),
        an_overlay("low", weight=1, price_delta_ppm=-500_000),
    )

    assert prices(found)["m-4", "zone-a", "on-demand"] == DOLLAR // 2
    assert prices(found)["m-4", "zone-a", "spot"] == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"price_nanos_per_hour": 1}, {"price_nanos_per_hour": 2}, id="price"),
        pytest.param({"price_nanos_per_hour": 1}, {"price_nanos_per_hour": 1}, id="equal price"),
        pytest.param(
            {"price_nanos_per_hour": 1, "requirements": SPOT}, {"price_delta_ppm": 1}, id="in part"
        ),
        pytest.param({"capacity": amounts(gpu=1)}, {"capacity": amounts(gpu=1)}, id="capacity"),
        pytest.param(
            {"capacity": amounts(gpu=1), "requirements": SPOT},
            {"capacity": amounts(gpu=2), "requirements": ON_DEMAND},
            id="capacity of one type by different offerings",
        ),
    ],
)
def test_of_two_of_one_weight_the_name_that_comes_later_wins(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    alone = evaluated(an_overlay("b", **first))

    found = evaluated(an_overlay("a", **second), an_overlay("b", **first))

    assert found.offers == alone.offers
    told = problems(found)
    assert told["b"] == ""
    assert 'overlay "b" has the same weight 0' in told["a"]


def test_nothing_of_an_overlay_in_conflict_is_in_force_anywhere() -> None:
    pools = [a_pool("x", labels={"team": "a"}), a_pool("y")]
    team = require(("team", "In", ["a"]))

    found = evaluated(
        an_overlay("b", requirements=team, price_nanos_per_hour=1),
        an_overlay("a", price_nanos_per_hour=2, capacity=amounts(gpu=8)),
        pools=pools,
    )

    assert set(prices(found, "x").values()) == {1}
    assert changed(found, "y") == set()
    assert not found.offers["x"].capacity
    assert 'nodepool "x"' in problems(found)["a"]


def test_an_overlay_in_conflict_takes_nobody_elses_place() -> None:
    found = evaluated(
        an_overlay("c", requirements=SPOT, price_nanos_per_hour=1),
        an_overlay("b", price_nanos_per_hour=2),
        an_overlay("a", requirements=ON_DEMAND, price_nanos_per_hour=3),
    )

    assert set(prices(found).values()) == {1, 3}
    assert [name for name, problem in problems(found).items() if problem] == ["b"]


def test_equal_weights_do_not_conflict_where_they_speak_of_different_things() -> None:
    found = evaluated(
        an_overlay("a", price_nanos_per_hour=1),
        an_overlay("b", capacity=amounts(gpu=1)),
        an_overlay("c", capacity=amounts(fuse=2)),
    )

    assert set(problems(found).values()) == {""}
    assert found.offers["default"].capacity["m-4"] == amounts(gpu=1, fuse=2)


def test_the_third_of_one_weight_conflicts_with_the_first() -> None:
    found = evaluated(
        an_overlay("c", capacity=amounts(gpu=1)),
        an_overlay("b", capacity=amounts(fuse=1)),
        an_overlay("a", capacity=amounts(gpu=2)),
    )

    assert 'overlay "c" has the same weight' in problems(found)["a"]


def test_capacity_is_merged_by_resource_and_the_highest_weight_wins() -> None:
    found = evaluated(
        an_overlay("high", weight=2, capacity=amounts(gpu=4)),
        an_overlay("low", weight=1, capacity=amounts(gpu=1, fuse=9)),
    )

    (_, kind) = found.offers["default"].catalogue.instance_types
    assert kind.capacity == amounts(cpu=4, memory="16Gi", pods=110, gpu=4, fuse=9)


def test_capacity_changes_the_whole_type_if_any_offering_is_selected() -> None:
    overlay = an_overlay(requirements=M4.intersection(SPOT), capacity=amounts(gpu=1))

    offer = evaluated(overlay).offers["default"]

    assert dict(offer.capacity) == {"m-4": amounts(gpu=1)}
    assert offer.priced == frozenset()


def test_what_an_offering_overrides_stays_overridden() -> None:
    kind = a_type(offerings=(an_offering(overhead_override=amounts(cpu=1)),))

    found = evaluated(an_overlay(price_nanos_per_hour=1), catalogue=a_catalogue(kind))

    ((offering,),) = (one.offerings for one in found.offers["default"].catalogue.instance_types)
    assert offering.overhead_override == amounts(cpu=1)


@pytest.mark.parametrize(
    "requirements",
    [
        pytest.param(EVERYTHING, id="told apart by nothing"),
        pytest.param(require(("team", "In", ["a", "b"])), id="told apart, and changed alike"),
    ],
)
def test_pools_that_overlays_change_alike_share_a_catalogue(requirements: Any) -> None:
    pools = [a_pool("x", labels={"team": "a"}), a_pool("y", labels={"team": "b"})]
    overlay = an_overlay(requirements=requirements, price_nanos_per_hour=1)

    offers = evaluated(overlay, pools=pools).offers

    assert offers["x"].catalogue is offers["y"].catalogue


def test_a_pool_that_no_overlay_touches_keeps_its_catalogue() -> None:
    only_x = require((label_keys.NODEPOOL, "In", ["x"]))

    offers = evaluated(
        an_overlay(requirements=only_x, price_nanos_per_hour=1), pools=[a_pool("x"), a_pool("y")]
    ).offers

    assert offers["y"].catalogue is CATALOGUE
    assert offers["x"].catalogue is not CATALOGUE


def test_a_pool_without_a_catalogue_leaves_the_others_alone() -> None:
    lost = a_pool("lost")
    found = overlaid([lost], {}, [an_overlay(price_nanos_per_hour=1)])

    assert dict(found.offers) == {}
    assert problems(found) == {"one": ""}


def test_the_order_of_pools_and_overlays_does_not_matter() -> None:
    pools = [a_pool("x", labels={"team": "a"}), a_pool("y")]
    overlays = [
        an_overlay("a", price_nanos_per_hour=1),
        an_overlay("b", requirements=SPOT, price_nanos_per_hour=2),
        an_overlay("c", weight=1, capacity=amounts(gpu=1)),
    ]
    first = evaluated(*overlays, pools=pools)

    for order in permutations(overlays):
        assert evaluated(*order, pools=pools[::-1]) == first


@pytest.mark.parametrize(
    ("node", "gpus"),
    [
        pytest.param({}, 2, id="a starting node that says nothing of it"),
        pytest.param({"allocatable": amounts(cpu=4, gpu=0)}, 2, id="a starting node that has none"),
        pytest.param({"allocatable": amounts(cpu=4, gpu=1)}, 1, id="a starting node that has some"),
        pytest.param({"initialized": True}, 0, id="a node that is up"),
        pytest.param({"labels": {label_keys.INSTANCE_TYPE: "c-4"}}, 0, id="another type"),
        pytest.param({"nodeclaim": ""}, 0, id="a node that is nobody's"),
    ],
)
def test_what_overlays_promise_counts_on_nodes_that_are_not_up(
    node: dict[str, Any], gpus: int
) -> None:
    offers = evaluated(an_overlay(requirements=M4, capacity=amounts(gpu=2))).offers
    starting: dict[str, Any] = {"nodeclaim": "claim-1", "initialized": False} | node
    snapshot = a_snapshot(
        nodes=[a_node(**starting)],
        nodeclaims=[a_nodeclaim()],
    )

    assert completed(snapshot, offers).nodes["node-1"].allocatable.get(GPU) == gpus


@pytest.mark.parametrize(
    ("claim", "gpus"),
    [
        pytest.param({"allocatable": amounts(cpu=4)}, 2, id="launched"),
        pytest.param({"allocatable": amounts(cpu=4), "nodepool": "gone"}, 0, id="of no pool"),
        pytest.param({}, 0, id="not launched: nobody knows its type"),
    ],
)
def test_what_overlays_promise_counts_on_claims_in_flight(claim: dict[str, Any], gpus: int) -> None:
    offers = evaluated(an_overlay(requirements=M4, capacity=amounts(gpu=2))).offers
    labels = {label_keys.INSTANCE_TYPE: "m-4"}
    snapshot = a_snapshot(nodeclaims=[a_nodeclaim(labels=labels, **claim)])

    assert completed(snapshot, offers).nodeclaims["claim-1"].allocatable.get(GPU) == gpus


def test_a_snapshot_stays_the_same_where_no_overlay_promises_anything() -> None:
    snapshot = a_snapshot(nodeclaims=[a_nodeclaim(allocatable=amounts(cpu=4))])

    assert completed(snapshot, evaluated(an_overlay(price_nanos_per_hour=1)).offers) is snapshot
