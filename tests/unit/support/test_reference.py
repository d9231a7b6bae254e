"""The reference solver does what its docstrings say, and its own placements can be bound."""

import pytest

from libs.domain import labels as keys
from libs.domain.plan import Nomination, Plan
from libs.domain.reason import TargetKind
from libs.domain.solution import MinValuesPolicy, PreferencePolicy, SolveOptions
from tests.support.builders import a_type, amounts, an_offering
from tests.support.reference import takers
from tests.unit.support.documents import (
    SMALL,
    Obj,
    a_daemon,
    a_gang,
    a_node,
    a_pod,
    a_pool,
    bought,
    loaded,
    solved,
)


def test_existing_nodes_are_filled_before_anything_is_bought() -> None:
    found = solved(a_pool(), a_node("n1"), a_pod("a"), a_pod("b"))

    assert found.places == {"a": "n1", "b": "n1"}


def test_the_cheapest_type_that_fits_is_bought() -> None:
    assert bought(solved(a_pool(), a_pod("a"))) == [("small", 1)]


def test_a_planned_node_grows_for_more_pods() -> None:
    found = solved(a_pool(), *(a_pod(f"p{number}") for number in range(4)))

    assert bought(found) == [("large", 4)]


def test_a_planned_node_stays_in_its_zone() -> None:
    elsewhere = (an_offering("zone-b"),)
    large = a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=10), offerings=elsewhere)
    small = a_type("small", capacity=amounts(cpu=2, memory="8Gi", pods=10), price=10**8)

    found = solved(a_pool(), *(a_pod(f"p{n}") for n in range(3)), types=(large, small))

    assert bought(found) == [("small", 2), ("small", 1)]


def test_daemons_take_room_first() -> None:
    found = solved(a_pool(), a_daemon("1500m"), a_pod("a"))

    assert bought(found) == [("large", 1)]


@pytest.mark.parametrize(
    ("limits", "placed"),
    [
        pytest.param({"nodes": "1"}, 3, id="one node may be bought"),
        pytest.param({"cpu": "9"}, 3, id="a claim is charged with its largest type"),
        pytest.param({"cpu": "16"}, 6, id="two of the largest type are allowed"),
        pytest.param({"cpu": "5"}, 2, id="what exceeds the limits is not bought"),
    ],
)
def test_limits_hold(limits: Obj, placed: int) -> None:
    pods = [a_pod(f"p{number}", "2") for number in range(6)]
    types = (a_type("large", capacity=amounts(cpu=8, memory="32Gi", pods=3), price=10**9), SMALL)

    found = solved(a_pool(limits=limits), *pods, types=types)

    assert len(found.places) == placed


def test_a_heavier_pool_comes_first() -> None:
    found = solved(a_pool("a"), a_pool("b", weight=5), a_pod("pod"))

    assert found.new[0].option.pool.name == "b"


@pytest.mark.parametrize(
    ("policy", "zone"),
    [
        pytest.param(PreferencePolicy.RESPECT, "zone-c", id="held while it can be"),
        pytest.param(PreferencePolicy.IGNORE, "zone-a", id="ignored"),
    ],
)
def test_preferences_follow_the_policy(policy: PreferencePolicy, zone: str) -> None:
    wanted = {"matchExpressions": [{"key": keys.ZONE, "operator": "In", "values": ["zone-c"]}]}
    preferred = [{"weight": 1, "preference": wanted}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    found = solved(
        a_pool(),
        a_pod("a", affinity=affinity),
        options=SolveOptions(preference_policy=policy),
    )

    assert found.new[0].option.labels[keys.ZONE] == zone


def test_a_preference_is_given_up_where_it_cannot_be_met() -> None:
    wanted = {"matchExpressions": [{"key": keys.ZONE, "operator": "In", "values": ["moon"]}]}
    preferred = [{"weight": 1, "preference": wanted}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}

    assert bought(solved(a_pool(), a_pod("a", affinity=affinity))) == [("small", 1)]


@pytest.mark.parametrize(
    ("policy", "placed"),
    [
        pytest.param(MinValuesPolicy.STRICT, 0, id="strict"),
        pytest.param(MinValuesPolicy.BEST_EFFORT, 1, id="best effort"),
    ],
)
def test_min_values_hold_unless_they_are_best_effort(policy: MinValuesPolicy, placed: int) -> None:
    requirement = {"key": keys.INSTANCE_TYPE, "operator": "Exists", "minValues": 2}

    found = solved(
        a_pool(requirements=[requirement]),
        a_pod("a", "3"),
        options=SolveOptions(min_values_policy=policy),
    )

    assert len(found.places) == placed


def test_a_gang_that_comes_out_short_leaves_its_room_to_others() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "crew"}
    crew = [a_pod(f"crew-{number}", "3", labels=label) for number in range(2)]

    found = solved(
        a_pool(limits={"nodes": "0"}), a_node("n1"), a_gang("crew", 2), *crew, a_pod("a", "2")
    )

    assert found.places == {"a": "n1"}


def test_reserved_instances_are_counted() -> None:
    reserved = an_offering(
        capacity_type="reserved",
        reservation_id="r-1",
        reservation_capacity=1,
        price_nanos_per_hour=1,
    )
    only = a_type("only", capacity=amounts(cpu=2, memory="8Gi", pods=10), offerings=(reserved,))

    found = solved(a_pool(), a_pod("a", "2"), a_pod("b", "2"), types=(only,))

    assert found.unplaced == ("b",)


def test_the_filters_that_look_at_other_pods_are_asked_of_new_nodes() -> None:
    constraint = {
        "topologyKey": keys.ZONE,
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pods = [
        a_pod(f"p{n}", labels={"app": "web"}, topologySpreadConstraints=[constraint])
        for n in range(3)
    ]

    found = solved(a_pool(), *pods)

    # Kubernetes knows no zone without a node: the first node is the only domain.
    assert len(found.places) == 3


def test_takers_finds_the_node_that_was_overlooked() -> None:
    objects = (
        a_pool(limits={"nodes": "0"}),
        a_node("n1"),
        a_node("n2", "1"),
        a_pod("a"),
        a_pod("b", "3"),
    )
    cluster, snapshot = loaded(objects)
    nomination = Nomination(target_kind=TargetKind.NODE, target="n1", pod_uids=("b",))

    assert takers(cluster, snapshot, Plan(nominations=(nomination,))) == {"a": ("n1", "n2")}


def test_takers_finds_what_could_be_bought() -> None:
    cluster, snapshot = loaded((a_pool(limits={"cpu": "7"}), a_pod("a")))

    found = takers(cluster, snapshot, Plan())

    assert [name.split("/")[:2] for name in found["a"]] == [["new pool", "small"]]


def test_takers_looks_at_no_member_of_a_gang_that_stays_short() -> None:
    label = {"scheduling.x-k8s.io/pod-group": "crew"}
    crew = [a_pod(f"crew-{number}", labels=label) for number in range(3)]
    cluster, snapshot = loaded((a_pool(), a_gang("crew", 2), *crew))

    assert takers(cluster, snapshot, Plan()) == {}
