"""Refining: never dearer, valid, the same for the same number of iterations."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from libs.domain.errors import Unavailable
from libs.domain.labels import ZONE
from libs.domain.objective import Objective, SpotDiversity
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.packed import Packed, packed
from services.solver.core.packing.encode import encode
from services.solver.core.refining.refine import Refined, refine
from services.solver.core.refining.start import Search, Start
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_pool,
    a_shape,
    a_snapshot,
    a_spread,
    a_term,
    a_type,
    amounts,
    an_offering,
    pods,
    require,
    selecting,
    some_types,
)
from tests.support.judging import judged
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

HUGE = a_type("huge", capacity=amounts(cpu=64, memory="256Gi", pods=500), price=9 * 10**9)
"""Has room for everything at three times the price per CPU."""

FAST = SolveOptions()
ONCE = SolveOptions(refine_iterations=1)


def a_cluster(**override: Any) -> ClusterSnapshot:
    collections: dict[str, Any] = {
        "shapes": [a_shape(1, cpu="900m"), a_shape(2, cpu="1700m", memory="4Gi")],
        "pods": [*pods(20, 1), *pods(9, 2)],
        "catalogues": [a_catalogue(*some_types(), HUGE)],
    }
    return a_snapshot(**(collections | override))


def price(solution: Solution) -> int:
    return solution.cost.new_nanos_per_hour


def test_a_claim_does_not_grow_to_a_type_that_is_not_worth_its_price() -> None:
    fast, refined = solve(a_cluster(), FAST), solve(a_cluster(), ONCE)

    assert [claim.cheapest.instance_type for claim in fast.plan.nodeclaims] == ["huge"]
    assert 3 * price(refined) < price(fast)
    assert refined.cost.bound_ratio_ppm is not None
    assert refined.cost.bound_ratio_ppm < 1_150_000
    assert refined.iterations == 1


@pytest.mark.parametrize("iterations", [1, 100])
def test_pods_stay_spread_over_domains_that_only_dear_types_make(iterations: int) -> None:
    """Where room on fewer types is tried, one in which no such type is sold counts as before."""
    own = {"mid": (4, "zone-b", 180), "small": (1, "zone-a", 50)}
    types = [
        a_type(
            name,
            capacity=amounts(cpu=cpu, memory="16Gi", pods=110),
            offerings=(an_offering(zone, price_nanos_per_hour=price * 10**6),),
        )
        for name, (cpu, zone, price) in own.items()
    ]
    big = a_type("big", capacity=amounts(cpu=16, memory="64Gi", pods=110), price=970_000_000)
    web = a_shape(1, cpu="1200m", memory="128Mi", topology_spread=(a_spread(),))
    tied = a_shape(2, cpu="800m", memory="128Mi", labels={}, selector={ZONE: "zone-a"})
    cluster = a_snapshot(
        shapes=[web, tied],
        pods=[*pods(12, 1), *pods(4, 2)],
        catalogues=[a_catalogue(*types, big)],
        nodepools=[a_pool(requirements=require((ZONE, "In", ["zone-a", "zone-b"])))],
    )

    plan = solve(cluster, SolveOptions(refine_iterations=iterations)).plan

    counts = Counter[str]()
    for claim in plan.nodeclaims:
        counts[claim.cheapest.zone] += sum("s1-" in uid for uid in claim.pod_uids)
    assert counts == {"zone-a": 6, "zone-b": 6}


def test_every_set_of_types_that_is_tried_is_an_iteration() -> None:
    lean = a_type("lean", capacity=amounts(cpu=4, memory="4Gi", pods=110), price=100_000_000)
    wide = a_type("wide", capacity=amounts(cpu=4, memory="32Gi", pods=110), price=150_000_000)
    cluster = a_cluster(
        shapes=[a_shape(1, memory="512Mi"), a_shape(2, memory="3Gi")],
        catalogues=[a_catalogue(lean, wide)],
    )

    first, more = (solve(cluster, SolveOptions(refine_iterations=number)) for number in (1, 9))

    assert (first.iterations, more.iterations) == (1, 9)
    assert price(more) <= price(first) <= price(solve(cluster, FAST))


def test_what_a_claim_may_be_launched_as_is_not_narrowed() -> None:
    plan = solve(a_cluster(), ONCE).plan

    assert all("huge" in claim.instance_types for claim in plan.nodeclaims)


def test_who_has_no_place_is_told_the_same() -> None:
    shapes = [a_shape(1, cpu="900m"), a_shape(2, cpu="99")]
    fast, refined = (solve(a_cluster(shapes=shapes), options) for options in (FAST, ONCE))

    assert price(refined) < price(fast)
    assert refined.plan.unplaced == fast.plan.unplaced != ()


def test_limits_hold_for_all_that_claims_may_be_launched_as() -> None:
    limited = a_cluster(nodepools=[a_pool(limits=amounts(cpu=64))])

    fast, refined = solve(limited, FAST), solve(limited, ONCE)

    sizes = {kind.name: kind.capacity.get("cpu") for kind in (*some_types(), HUGE)}
    largest = [max(map(sizes.__getitem__, one.instance_types)) for one in refined.plan.nodeclaims]
    assert sum(largest) <= 64_000
    assert price(refined) < price(fast)


@pytest.mark.parametrize(
    "override",
    [
        pytest.param({"nodepools": [a_pool(limits=amounts(cpu=8))]}, id="limits"),
        pytest.param({"pods": []}, id="nobody waits"),
    ],
)
def test_where_nothing_can_be_gained_the_answer_stays(override: dict[str, Any]) -> None:
    cluster = a_cluster(**override)

    assert price(solve(cluster, ONCE)) <= price(solve(cluster, FAST))


def test_refined_plans_are_valid_no_dearer_and_not_below_the_bound() -> None:
    @settings(
        max_examples=40,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mixed_clusters())
    def check(mixed: MixedCluster) -> None:
        loaded = load(mixed)
        fast = solve(loaded.snapshot, loaded.options)
        once = replace(loaded, options=replace(loaded.options, refine_iterations=9))
        judgement = judged(once)
        assert judgement.refused == ()
        assert price(judgement.solution) <= price(fast)
        for one in (fast, judgement.solution):
            bound = one.cost.lower_bound_nanos_per_hour
            assert bound is not None
            assert bound <= min(price(fast), price(judgement.solution))

    check()


def test_a_replay_with_the_number_of_iterations_gives_the_same_plan() -> None:
    looks = iter([False, False, True])
    budget = SolveOptions(refine_budget=timedelta(seconds=1))
    first = solve(a_cluster(), budget, spent=lambda: next(looks))

    again = solve(a_cluster(), replace(budget, refine_iterations=first.iterations))

    assert (again.plan, again.cost, again.plan_id) == (first.plan, first.cost, first.plan_id)
    assert again.iterations == first.iterations > 0


def test_a_replay_gives_the_same_plan_where_spot_nodes_are_spread() -> None:
    apart = a_shape(1, anti_affinity=(a_term(selector=selecting(app="web")),))
    kinds = [
        a_type(f"s{cpu}", capacity=amounts(cpu=cpu, memory="8Gi"), price=cpu) for cpu in (1, 2)
    ]
    cluster = a_cluster(
        shapes=[replace(apart, labels=(("app", "web"),))],
        pods=pods(6),
        catalogues=[a_catalogue(*kinds)],
    )
    spread = Objective(spot_diversity=SpotDiversity(share_ppm=200_000))
    options = SolveOptions(refine_budget=timedelta(seconds=1), objective=spread)
    looks = iter([False, False])
    first = solve(cluster, options, spent=lambda: next(looks, True))

    again = solve(cluster, replace(options, refine_iterations=first.iterations))

    assert again.plan == first.plan


def test_room_that_costs_nothing_is_no_bargain_to_divide_by() -> None:
    free = a_type("free", price=0)
    cluster = a_cluster(catalogues=[a_catalogue(*some_types(), free, HUGE)])

    found = solve(cluster, SolveOptions(refine_iterations=3))

    assert price(found) == 0


def test_a_budget_that_is_spent_leaves_the_fast_answer() -> None:
    budget = SolveOptions(refine_budget=timedelta(seconds=1))

    found = solve(a_cluster(), budget, spent=lambda: True)

    assert (found.plan, found.iterations) == (solve(a_cluster(), FAST).plan, 0)


def test_a_budget_that_the_bound_has_spent_leaves_the_fast_answer_with_that_bound() -> None:
    budget = SolveOptions(refine_budget=timedelta(seconds=1))
    looks = iter([False])

    found = solve(a_cluster(), budget, spent=lambda: next(looks, True))

    refined = solve(a_cluster(), SolveOptions(refine_iterations=1))
    assert (found.plan, found.iterations) == (solve(a_cluster(), FAST).plan, 0)
    assert found.cost.lower_bound_nanos_per_hour == refined.cost.lower_bound_nanos_per_hour


@dataclass(slots=True)
class Walk:
    """A search that finds nothing in so many iterations."""

    start: Start
    left: int = 1_000
    asked: list[int] = field(default_factory=list)

    def advance(self, iterations: int) -> int:
        self.asked.append(iterations)
        tried = min(iterations, self.left)
        self.left -= tried
        return tried

    def best(self) -> Packed:
        return self.start.packed


def walked(options: SolveOptions, spent: Callable[[], bool], left: int) -> tuple[Refined, Walk]:
    encoded = encode(a_cluster(), options, NOW, NOTHING_REMEMBERED)
    walks: list[Walk] = []

    def begin(start: Start) -> Search:
        walks.append(Walk(start, left))
        return walks[-1]

    fast = packed(encoded, lambda: False)
    found = refine(encoded, fast, cancelled=lambda: False, spent=spent, begin=begin)
    return found, walks[0]


@pytest.mark.parametrize(
    ("options", "left", "iterations"),
    [
        pytest.param(SolveOptions(refine_iterations=100), 1_000, 100, id="so many"),
        pytest.param(SolveOptions(refine_iterations=100), 10, 11, id="no more is to be gained"),
        pytest.param(SolveOptions(refine_budget=timedelta(1)), 70, 71, id="however long"),
    ],
)
def test_a_search_runs_as_long_as_it_may(options: SolveOptions, left: int, iterations: int) -> None:
    found, walk = walked(options, lambda: False, left)

    assert found.iterations == iterations
    assert sum(walk.asked) >= iterations - 1
    assert walk.start.packed.answer.plan == found.answer.plan


def test_a_search_ends_when_the_budget_is_spent() -> None:
    looks = iter([False, False, False, False, True])

    found, walk = walked(SolveOptions(refine_budget=timedelta(1)), lambda: next(looks), 1_000)

    assert len(walk.asked) == 2
    assert found.iterations == 1 + sum(walk.asked)


def test_a_search_ends_when_the_caller_has_gone_away() -> None:
    looks = iter([False] * 100)
    options = SolveOptions(refine_iterations=1_000_000)

    with pytest.raises(Unavailable):
        solve(a_cluster(), options, cancelled=lambda: next(looks, True))
