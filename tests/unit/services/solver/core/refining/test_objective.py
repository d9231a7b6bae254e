"""What a plan is chosen by besides its price."""

from collections import Counter
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.objective import BlastRadius, Licence, Objective, SpotDiversity
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.solution import Solution, SolveOptions
from services.solver.core.offers.market import NOTHING_REMEMBERED
from services.solver.core.packed import packed
from services.solver.core.packing.encode import encode
from services.solver.core.refining.score import score
from services.solver.core.solve import solve
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_pool,
    a_shape,
    a_snapshot,
    a_type,
    amounts,
    an_offering,
    an_owner,
    pods,
    require,
    some_types,
)

GRAVITON = a_type("arm", arch="arm64", price=150_000_000)
"""Four CPUs, cheaper than `m-4`."""


def decided(objective: Objective, **override: Any) -> Solution:
    collections: dict[str, Any] = {
        "shapes": [a_shape(cpu="3")],
        "pods": pods(6),
        "catalogues": [a_catalogue(*some_types(4, 16), GRAVITON)],
    }
    snapshot = a_snapshot(**(collections | override))
    return solve(snapshot, SolveOptions(objective=objective, refine_iterations=1))


def bought(solution: Solution) -> list[tuple[str, str]]:
    claims = solution.plan.nodeclaims
    return [(one.cheapest.instance_type, one.cheapest.capacity_type) for one in claims]


def test_without_terms_the_price_decides() -> None:
    found = decided(Objective())

    assert bought(found) == [("arm", "spot")] * 6
    assert found.cost.objective_nanos_per_hour == found.cost.new_nanos_per_hour


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        pytest.param(
            Objective(interruption_nanos_per_hour=10**8),
            [("arm", "on-demand")] * 6,
            id="a risk that costs more than spot saves",
        ),
        pytest.param(
            Objective(interruption_nanos_per_hour=1),
            [("arm", "spot")] * 6,
            id="a risk that costs less",
        ),
        pytest.param(
            Objective(node_nanos_per_hour=10**9),
            [("arm", "spot"), ("m-16", "spot")],
            id="few nodes, and the cheaper one where one pod is left",
        ),
        pytest.param(
            Objective(
                licences=(
                    Licence(
                        nodes=Requirements.from_labels({label_keys.ARCH: "arm64"}),
                        nanos_per_hour=10**9,
                    ),
                )
            ),
            [("m-4", "spot"), ("m-16", "spot")],
            id="a licence that some nodes do not need",
        ),
        pytest.param(
            Objective(licences=(Licence(nodes=ANYTHING, nanos_per_hour=10**9),)),
            [("arm", "spot"), ("m-16", "spot")],
            id="a licence that every node needs",
        ),
    ],
)
def test_terms_per_node_change_what_is_bought(
    objective: Objective, expected: list[tuple[str, str]]
) -> None:
    found = decided(objective)

    assert sorted(bought(found)) == sorted(expected)
    assert found.cost.lower_bound_nanos_per_hour is not None
    assert found.cost.lower_bound_nanos_per_hour <= found.cost.new_nanos_per_hour


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        pytest.param({"team": "red"}, "blue", id="a label of the pool"),
        pytest.param({"team": "blue"}, "red", id="one of the other pool"),
        pytest.param({"tier": "gold"}, "blue", id="a requirement of the pool"),
        pytest.param({label_keys.NODEPOOL: "red"}, "blue", id="the pool itself"),
        pytest.param({label_keys.ARCH: "amd64", "team": "red"}, "red", id="not all labels"),
        pytest.param({"rack": "1"}, "red", id="a label that the pool leaves open"),
        pytest.param({label_keys.OS: "windows"}, "red", id="what the pool never buys"),
    ],
)
def test_a_licence_is_for_nodes_with_labels_of_their_pool(
    licence: dict[str, str], expected: str
) -> None:
    named = Licence(nodes=Requirements.from_labels(licence), nanos_per_hour=10**9)
    own = require(("tier", "In", ["gold"]), ("rack", "Exists", []))
    pools = [
        a_pool("red", labels={"team": "red"}, requirements=own),
        a_pool("blue", labels={"team": "blue"}),
    ]
    # Of two pools that sell the same the first has it, but for what it counts for.
    found = decided(Objective(licences=(named,)), nodepools=pools)

    assert {one.nodepool for one in found.plan.nodeclaims} == {expected}


def test_what_is_paid_is_not_what_is_weighed() -> None:
    found = decided(Objective(node_nanos_per_hour=10**9))

    nodes = len(found.plan.nodeclaims)
    assert found.cost.objective_nanos_per_hour == found.cost.new_nanos_per_hour + nodes * 10**9


@pytest.mark.parametrize("iterations", [1, 3, 200])
@pytest.mark.parametrize(
    ("share", "dollars", "most"),
    [
        pytest.param(250_000, 1.0, 2, id="a share"),
        pytest.param(1, 1.0, 1, id="a pod at least"),
        pytest.param(10**6, 1.0, 8, id="all of them"),
        pytest.param(250_000, 0.0, 8, id="at no price"),
        pytest.param(250_000, 0.001, 8, id="less than nodes apart cost more"),
    ],
)
def test_pods_of_a_workload_are_kept_apart_where_that_is_worth_its_price(
    iterations: int, share: int, dollars: float, most: int
) -> None:
    nanos = round(dollars * 10**9)
    radius = BlastRadius(share_ppm=share, pod_nanos_per_hour=nanos)
    # A large node is cheaper than two small ones: by price alone all pods go to one.
    types = [
        a_type("small", capacity=amounts(cpu=2, memory="16Gi", pods=110), price=10**8),
        a_type("large", capacity=amounts(cpu=16, memory="64Gi", pods=110), price=3 * 10**8),
    ]
    snapshot = a_snapshot(
        shapes=[a_shape(cpu="1")],
        pods=pods(8, owner=an_owner()),
        catalogues=[a_catalogue(*types)],
    )

    found = solve(
        snapshot,
        SolveOptions(objective=Objective(blast_radius=radius), refine_iterations=iterations),
    )

    assert max(len(one.pod_uids) for one in found.plan.nodeclaims) == most
    assert found.pods.unplaced == 0


def test_a_provider_cannot_take_what_looks_cheaper_to_it() -> None:
    found = decided(Objective(interruption_nanos_per_hour=10**8))

    stated = [one.requirements.get(label_keys.CAPACITY_TYPE) for one in found.plan.nodeclaims]
    assert all(one is not None and one.values == {"on-demand"} for one in stated)


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        pytest.param(Objective(), (0, 0, 0), id="nothing"),
        pytest.param(
            Objective(blast_radius=BlastRadius(share_ppm=250_000, pod_nanos_per_hour=7)),
            (0, 0, 7 * (4 - 2) * 2),
            id="of eight pods two are free on each of two nodes",
        ),
        pytest.param(
            Objective(spot_diversity=SpotDiversity(share_ppm=500_000)),
            (1, 0, 0),
            id="one of the two may be of one offering",
        ),
        pytest.param(
            Objective(spot_diversity=SpotDiversity(instance_types=3)),
            (0, 2 * 2, 0),
            id="each could be launched as one type alone",
        ),
    ],
)
def test_plans_are_scored_as_a_whole(objective: Objective, expected: tuple[int, int, int]) -> None:
    only = a_type(capacity=amounts(cpu=4, memory="16Gi", pods=110))
    snapshot = a_snapshot(pods=pods(8, owner=an_owner()), catalogues=[a_catalogue(only)])
    encoded = encode(snapshot, SolveOptions(objective=objective), NOW, NOTHING_REMEMBERED)

    found = packed(encoded, lambda: False)

    scored = score(encoded, found)
    beyond = scored.objective - found.answer.weight
    assert (scored.crowded, scored.narrow, beyond) == expected


@pytest.mark.parametrize(
    ("share_ppm", "most"),
    [
        pytest.param(0, 6, id="any share"),
        pytest.param(500_000, 3, id="half of them"),
        pytest.param(100_000, 1, id="at least one node"),
    ],
)
def test_no_offering_has_more_than_its_share_of_spot_nodes(share_ppm: int, most: int) -> None:
    found = decided(Objective(spot_diversity=SpotDiversity(share_ppm=share_ppm)))

    sold = Counter((one.cheapest.instance_type, one.cheapest.zone) for one in found.plan.nodeclaims)
    assert max(sold.values()) == most
    assert sum(len(one.pod_uids) for one in found.plan.nodeclaims) == 6


def test_where_there_is_no_other_offering_a_plan_stays() -> None:
    only = a_type(offerings=(an_offering("zone-a", "spot"),))
    objective = Objective(spot_diversity=SpotDiversity(share_ppm=500_000))

    found = decided(objective, catalogues=[a_catalogue(only)])

    assert bought(found) == [("m-4", "spot")] * 6


@pytest.mark.parametrize(
    ("make", "field"),
    [
        pytest.param(lambda: Objective(node_nanos_per_hour=-1), "node_nanos", id="negative"),
        pytest.param(
            lambda: Objective(interruption_nanos_per_hour=10**16), "interruption", id="too much"
        ),
        pytest.param(
            lambda: BlastRadius(share_ppm=0, pod_nanos_per_hour=1), "share_ppm", id="no share"
        ),
        pytest.param(lambda: SpotDiversity(share_ppm=1_000_001), "share_ppm", id="over the whole"),
        pytest.param(
            lambda: Licence(nodes=ANYTHING, nanos_per_hour=-1), "nanos_per_hour", id="a gift"
        ),
    ],
)
def test_terms_that_make_no_sense_are_refused(make: Any, field: str) -> None:
    with pytest.raises(InvalidRequest, match=field):
        make()


def test_an_answer_that_was_not_refined_counts_the_same_terms() -> None:
    radius = Objective(blast_radius=BlastRadius(share_ppm=250_000, pod_nanos_per_hour=10**9))
    together = pods(4, owner=an_owner())

    snapshot = a_snapshot(
        shapes=[a_shape(cpu="1")], pods=together, catalogues=[a_catalogue(*some_types(4, 16))]
    )
    found = solve(snapshot, SolveOptions(objective=radius))

    (claim,) = found.plan.nodeclaims
    assert found.iterations == 0
    cost = found.cost
    assert cost.objective_nanos_per_hour == claim.cheapest.price_nanos_per_hour + 3 * 10**9
