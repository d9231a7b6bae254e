"""The local search: what it may change, what it must keep, and that it always does the same."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from libs.domain import labels as label_keys
from libs.domain.plan import Plan, PlannedNodeClaim
from libs.domain.requirements import Requirements
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.packed import Packed, packed
from services.solver.core.packing.encode import encode
from services.solver.core.refining.bound import lower_bound
from services.solver.core.refining.fluid import Placed, fluid
from services.solver.core.refining.search import begin
from services.solver.core.refining.start import Search, Start
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_pool,
    a_port,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_term,
    a_toleration,
    a_type,
    amounts,
    pods,
    require,
    selecting,
    some_types,
)
from tests.support.judging import judged
from tests.support.mixed import MixedCluster, load
from tests.support.strategies.mixed import mixed_clusters

HUGE = a_type("huge", capacity=amounts(cpu=64, memory="256Gi", pods=500), price=9 * 10**9)
LEAN = a_type("lean", capacity=amounts(cpu=8, memory="16Gi", pods=110), price=300_000_000)
WIDE = a_type("wide", capacity=amounts(cpu=4, memory="32Gi", pods=110), price=250_000_000)
CATALOGUE = a_catalogue(*some_types(), HUGE, LEAN, WIDE)

FREE: dict[str, Any] = {"labels": {"app": "free"}}


def a_cluster(**override: Any) -> ClusterSnapshot:
    """Return a cluster in which little fits well: pods of four sizes, free to go anywhere."""
    collections: dict[str, Any] = {
        "shapes": [
            a_shape(1, cpu="900m", memory="1200Mi", **FREE),
            a_shape(2, cpu="1700m", memory="4Gi", **FREE),
            a_shape(3, cpu="300m", memory="5Gi", **FREE),
            a_shape(4, cpu="2600m", memory="2Gi", **FREE),
        ],
        "pods": [*pods(23, 1), *pods(17, 2), *pods(19, 3), *pods(11, 4)],
        "catalogues": [CATALOGUE],
    }
    return a_snapshot(**(collections | override))


def started(snapshot: ClusterSnapshot, seed: int = 0) -> Start:
    """Return the fast answer as a start."""
    encoded = encode(snapshot, SolveOptions(), NOW, NOTHING_REMEMBERED)
    fast = packed(encoded, lambda: False)
    flow = fluid(
        Placed(
            problem=fast.problem,
            namespaces=snapshot.namespaces,
            counts=fast.counts,
            asks=tuple(asks[-1] for asks in fast.problem.asks),
        ),
        lambda template: template.columns.price,
    )
    shapes = [fast.problem.groups[index].shape.id for index in flow.groups.tolist()]
    near = lower_bound(flow)
    worth = dict(zip(shapes, near.worth.tolist(), strict=True))
    return Start(encoded=encoded, packed=fast, worth=worth, least=near.nanos_per_hour, seed=seed)


def searched(
    snapshot: ClusterSnapshot, iterations: Sequence[int] = (200,), seed: int = 0
) -> Packed:
    """Return what a search found."""
    search = begun(started(snapshot, seed))
    for number in iterations:
        search.advance(number)
    return search.best()


def begun(start: Start) -> Search:
    found = begin(start)
    assert found is not None
    return found


def test_a_search_ends_where_nothing_is_left_to_gain() -> None:
    start = started(a_cluster())
    cost = start.packed.answer.weight

    assert begun(start).advance(5) == 5
    assert begun(replace(start, least=cost)).advance(5) == 0


def plan_of(found: Packed) -> Plan:
    return found.answer.plan


def shapes_on(claim: PlannedNodeClaim) -> Counter[str]:
    """Return how many pods of each shape a claim has: pods are named after theirs."""
    return Counter(uid.removeprefix("uid-").split("-")[0] for uid in claim.pod_uids)


def zones(claim: PlannedNodeClaim) -> frozenset[str]:
    zone = claim.requirements.get(label_keys.ZONE)
    return frozenset() if zone is None else zone.values


def by_zone(plan: Plan, shape: str) -> Counter[frozenset[str]]:
    found: Counter[frozenset[str]] = Counter()
    for claim in plan.nodeclaims:
        if count := shapes_on(claim)[shape]:
            found[zones(claim)] += count
    return found


def price(solution: Solution) -> int:
    return solution.cost.new_nanos_per_hour


def test_it_finds_what_fits_better_than_any_choice_of_types() -> None:
    first, more = (
        solve(a_cluster(), SolveOptions(refine_iterations=number)) for number in (9, 400)
    )

    assert price(more) < price(first)


def test_nobody_loses_a_place_and_launch_lists_stay_wide() -> None:
    start = started(a_cluster())
    plan = plan_of(searched(a_cluster()))

    placed = sorted(uid for claim in plan.nodeclaims for uid in claim.pod_uids)
    assert placed == sorted(row.uid for row in start.encoded.snapshot.pods.rows())
    assert all("huge" in claim.instance_types for claim in plan.nodeclaims)


def test_the_number_of_iterations_decides_and_not_how_they_were_asked_for() -> None:
    at_once, piecemeal = searched(a_cluster(), (150,)), searched(a_cluster(), (1, 2, 64, 83))

    assert plan_of(at_once) == plan_of(piecemeal)
    assert at_once.answer.weight < started(a_cluster()).packed.answer.weight


def test_the_seed_decides() -> None:
    plans = [plan_of(searched(a_cluster(), seed=seed)) for seed in (1, 2**63, 1)]

    assert plans[0] == plans[2] != plans[1]


def test_the_more_is_tried_the_less_it_costs() -> None:
    search = begun(started(a_cluster()))
    costs = [search.best().answer.weight]
    for _ in range(8):
        assert search.advance(20) == 20
        costs.append(search.best().answer.weight)

    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_a_search_that_changed_nothing_returns_the_start() -> None:
    start = started(a_cluster())

    assert begun(start).best() is start.packed


def test_of_pods_that_keep_apart_each_has_a_node_of_its_own() -> None:
    alone = a_shape(5, cpu="100m", anti_affinity=(a_term(),))
    cluster = a_cluster(
        shapes=[*a_cluster().shapes.values(), alone],
        pods=[*a_cluster().pods.rows(), *pods(9, 5)],
    )

    found = searched(cluster)

    assert max(shapes_on(claim)["s5"] for claim in plan_of(found).nodeclaims) == 1
    assert found.answer.weight < started(cluster).packed.answer.weight


def test_who_is_kept_away_from_a_node_stays_away_from_it() -> None:
    # Pods 5 bear nobody with app=free beside them; those of the other shapes have no rule.
    term = a_term(selector=selecting(app="free"))
    keeper = a_shape(5, cpu="500m", labels={"app": "keeper"}, anti_affinity=(term,))
    cluster = a_cluster(
        shapes=[*a_cluster().shapes.values(), keeper],
        pods=[*a_cluster().pods.rows(), *pods(6, 5)],
    )

    found = searched(cluster)

    for claim in plan_of(found).nodeclaims:
        assert len({"free" if name != "s5" else "keeper" for name in shapes_on(claim)}) == 1
    assert found.answer.weight < started(cluster).packed.answer.weight


def test_no_host_has_more_pods_of_a_spread_than_its_skew() -> None:
    spread = a_shape(5, cpu="100m", topology_spread=(a_spread(label_keys.HOSTNAME, max_skew=3),))
    cluster = a_cluster(
        shapes=[*a_cluster().shapes.values(), spread],
        pods=[*a_cluster().pods.rows(), *pods(25, 5)],
    )

    found = searched(cluster)

    assert max(shapes_on(claim)["s5"] for claim in plan_of(found).nodeclaims) <= 3
    assert found.answer.weight < started(cluster).packed.answer.weight


def test_whom_others_came_before_keeps_nobody_else_in_place() -> None:
    # Pods 5 count pods 6, which came to their hosts afterwards: as many as there was room for.
    counting = a_spread(label_keys.HOSTNAME, selector=selecting(app="crowd"))
    cluster = a_cluster(
        shapes=[
            *a_cluster().shapes.values(),
            a_shape(5, cpu="3", memory="1Gi", topology_spread=(counting,)),
            a_shape(6, cpu="100m", memory="100Mi", labels={"app": "crowd"}),
        ],
        pods=[*a_cluster().pods.rows(), *pods(3, 5), *pods(30, 6)],
    )
    start = started(cluster)

    found = searched(cluster)

    before, after = (
        sorted(sorted(held) for one in plan.nodeclaims if (held := _of(one, "s5", "s6")))
        for plan in (plan_of(start.packed), plan_of(found))
    )
    assert after == before
    assert found.answer.weight < start.packed.answer.weight


def _of(claim: PlannedNodeClaim, *shapes: str) -> list[str]:
    return [uid for uid in claim.pod_uids if uid.removeprefix("uid-").split("-")[0] in shapes]


def test_pods_that_are_spread_over_zones_stay_in_their_zones() -> None:
    spread = a_shape(5, cpu="700m", memory="3Gi", topology_spread=(a_spread(),))
    cluster = a_cluster(
        shapes=[*a_cluster().shapes.values(), spread],
        pods=[*a_cluster().pods.rows(), *pods(24, 5)],
    )
    start = started(cluster)

    found = searched(cluster)

    assert by_zone(plan_of(found), "s5") == by_zone(plan_of(start.packed), "s5")
    assert len(by_zone(plan_of(found), "s5")) == 3
    assert found.answer.weight < start.packed.answer.weight


def test_one_port_is_taken_once_per_node() -> None:
    with_port = a_shape(5, cpu="200m", host_ports=(a_port(),), **FREE)
    cluster = a_cluster(
        shapes=[*a_cluster().shapes.values(), with_port],
        pods=[*a_cluster().pods.rows(), *pods(7, 5)],
    )

    found = searched(cluster)

    assert max(shapes_on(claim)["s5"] for claim in plan_of(found).nodeclaims) == 1
    assert found.answer.weight < started(cluster).packed.answer.weight


def test_pods_stay_in_pools_of_their_weight() -> None:
    # The lighter pool sells what costs a third, to those alone that had no place in the other.
    cheap = require((label_keys.INSTANCE_TYPE, "In", ["lean", "wide"]))
    dear = require((label_keys.INSTANCE_TYPE, "In", ["huge", "m-16"]))
    cluster = a_cluster(
        nodepools=[
            a_pool("first", weight=10, requirements=dear),
            a_pool("second", weight=1, requirements=cheap),
        ]
    )

    found = searched(cluster)

    assert {claim.nodepool for claim in plan_of(found).nodeclaims} == {"first"}


def test_taints_keep_out_who_does_not_tolerate_them() -> None:
    tolerant = a_shape(5, cpu="1300m", tolerations=(a_toleration("dedicated"),), **FREE)
    dear = require((label_keys.INSTANCE_TYPE, "In", ["huge", "m-16"]))
    cluster = a_cluster(
        nodepools=[a_pool("common", requirements=dear), a_pool("a", taints=(a_taint(),))],
        shapes=[*a_cluster().shapes.values(), tolerant],
        pods=[*a_cluster().pods.rows(), *pods(12, 5)],
    )

    found = searched(cluster)

    tainted = [shapes_on(one) for one in plan_of(found).nodeclaims if one.nodepool == "a"]
    assert [set(shapes) for shapes in tainted] == [{"s5"}] * len(tainted) != []


@pytest.mark.parametrize("cpus", [80, 200])
def test_limits_hold_for_all_that_claims_may_be_launched_as(cpus: int) -> None:
    cluster = a_cluster(nodepools=[a_pool(limits=amounts(cpu=cpus))])
    start = started(cluster)

    found = searched(cluster)

    sizes = {kind.name: kind.capacity.get("cpu") for kind in CATALOGUE.instance_types}
    largest = [max(map(sizes.__getitem__, one.instance_types)) for one in plan_of(found).nodeclaims]
    assert sum(largest) <= cpus * 1000
    assert found.answer.weight <= start.packed.answer.weight


def test_enough_types_stay_to_choose_from() -> None:
    exists = require((label_keys.INSTANCE_TYPE, "Exists"))
    wanted = Requirements(replace(one, min_values=3) for one in exists)
    cluster = a_cluster(nodepools=[a_pool(requirements=wanted)])

    found = searched(cluster)

    assert min(len(claim.instance_types) for claim in plan_of(found).nodeclaims) >= 3
    assert found.answer.weight < started(cluster).packed.answer.weight


def test_who_must_be_on_one_node_is_not_parted() -> None:
    near = a_shape(5, cpu="500m", affinity=(a_term(),))
    cluster = a_cluster(shapes=[near], pods=pods(6, 5))

    assert begin(started(cluster)) is None


def test_searched_plans_are_valid_no_dearer_and_the_same_again() -> None:
    @settings(
        max_examples=60,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mixed_clusters())
    def check(mixed: MixedCluster) -> None:
        loaded = load(mixed)
        fast = judged(loaded)
        options = replace(loaded.options, refine_iterations=40, seed=len(mixed.documents))
        judgement = judged(replace(loaded, options=options))
        assert len(judgement.refused) <= len(fast.refused)
        assert price(judgement.solution) <= price(fast.solution)
        again = solve(loaded.snapshot, options)
        assert (again.cost, again.plan_id) == (judgement.solution.cost, judgement.solution.plan_id)

    check()
