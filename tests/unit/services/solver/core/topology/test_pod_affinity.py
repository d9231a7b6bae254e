"""Pod affinity and anti-affinity: who follows whom, who keeps away from whom."""

from dataclasses import replace
from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.reason import Rule
from libs.domain.selector import LabelSelector
from libs.domain.workload import Namespace
from tests.support.builders import (
    ZONES,
    a_node,
    a_node_term,
    a_pod,
    a_shape,
    a_term,
    pods,
    selecting,
)
from tests.unit.services.solver.core.asking import (
    left_over,
    on_new,
    on_nodes,
    plan_of,
    the_rejection,
    zones,
)

ZONE = label_keys.ZONE

HOST = label_keys.HOSTNAME


def _zoned_node(zone: str, **override: Any) -> Any:
    return a_node(f"node-{zone}", labels={ZONE: zone}, **override)


def test_pods_that_want_each_other_share_one_zone() -> None:
    plan = plan_of(shapes=[a_shape(cpu="8", affinity=(a_term(ZONE),))], pods=pods(6))

    assert len(set(zones(plan))) == 1
    assert sum(on_new(plan)) == 6


def test_pods_that_want_each_other_share_one_host_or_wait() -> None:
    plan = plan_of(shapes=[a_shape(cpu="4", affinity=(a_term(HOST),))], pods=pods(6))

    assert on_new(plan) == [4]
    assert the_rejection(plan).rule is Rule.POD_AFFINITY


def test_pods_follow_those_that_run() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="3", affinity=(a_term(ZONE),)), a_shape(2, cpu="3")],
        pods=[*pods(2), a_pod("old", 2, node="node-zone-b")],
        nodes=[_zoned_node(zone) for zone in ZONES],
    )

    assert set(zones(plan)) == {"zone-b"}


def test_pods_follow_those_of_the_same_plan_whatever_the_order() -> None:
    follower = a_shape(1, cpu="8", labels={"app": "api"}, affinity=(a_term(ZONE),))
    leader = a_shape(2, cpu="1", selector={ZONE: "zone-c"})
    plan = plan_of(shapes=[follower, leader], pods=[*pods(2, 1), *pods(1, 2)])

    assert set(zones(plan)) == {"zone-c"}
    assert sum(on_new(plan)) == 3


def test_nobody_is_there_to_follow() -> None:
    shape = a_shape(affinity=(a_term(ZONE, selector=selecting(app="gone")),))

    assert the_rejection(plan_of(shapes=[shape], pods=pods(1))).rule is Rule.POD_AFFINITY


def test_one_pod_has_to_match_all_terms() -> None:
    terms = (a_term(ZONE), a_term(ZONE, selector=selecting(tier="gold")))
    shape = a_shape(cpu="100m", labels={"app": "api"}, affinity=terms)
    plan = plan_of(
        shapes=[shape, a_shape(2), a_shape(3, labels={"tier": "gold"})],
        pods=[*pods(1), a_pod("a", 2, node="node-1"), a_pod("b", 3, node="node-1")],
        nodes=[a_node()],
        nodepools=[],
    )

    assert left_over(plan) == 1


@pytest.mark.parametrize(
    ("term", "follows"),
    [
        pytest.param({"namespaces": ("default",)}, False, id="own namespace only"),
        pytest.param({"namespaces": ("other",)}, True, id="by name"),
        pytest.param(
            {"namespaces": (), "namespace_selector": LabelSelector()}, True, id="every namespace"
        ),
        pytest.param(
            {"namespaces": (), "namespace_selector": selecting(team="red")}, True, id="by label"
        ),
        pytest.param(
            {"namespaces": (), "namespace_selector": selecting(team="blue")}, False, id="by another"
        ),
    ],
)
def test_terms_are_about_namespaces(term: dict[str, Any], follows: bool) -> None:
    shape = a_shape(cpu="100m", labels={"app": "api"}, affinity=(a_term(ZONE, **term),))
    plan = plan_of(
        shapes=[shape, a_shape(2, cpu="100m", namespace="other")],
        pods=[*pods(1), a_pod("old", 2, node="node-1", namespace="other")],
        nodes=[a_node()],
        nodepools=[],
        namespaces=[Namespace(name="other", labels=(("team", "red"),))],
    )

    assert left_over(plan) == (0 if follows else 1)


def test_pods_that_avoid_each_other_get_a_node_each() -> None:
    plan = plan_of(shapes=[a_shape(anti_affinity=(a_term(HOST),))], pods=pods(4))

    assert on_new(plan) == [1, 1, 1, 1]


def test_pods_that_avoid_each_other_by_zone_use_all_zones_at_once() -> None:
    plan = plan_of(shapes=[a_shape(anti_affinity=(a_term(ZONE),))], pods=pods(4))

    assert zones(plan) == list(ZONES)
    assert the_rejection(plan).rule is Rule.POD_ANTI_AFFINITY


def test_alternatives_do_not_let_a_pod_in_twice() -> None:
    terms = (a_node_term((label_keys.ARCH, "Exists")), a_node_term((label_keys.OS, "Exists")))
    shape = a_shape(anti_affinity=(a_term(HOST),), required_node_terms=terms)

    assert on_new(plan_of(shapes=[shape], pods=pods(3))) == [1, 1, 1]


@pytest.mark.parametrize("key", [HOST, ZONE])
def test_running_pods_keep_others_away(key: str) -> None:
    guard = a_shape(2, cpu="100m", labels={"app": "db"}, anti_affinity=(a_term(key),))
    plan = plan_of(
        shapes=[a_shape(cpu="100m"), guard],
        pods=[*pods(1), a_pod("guard", 2, node="node-zone-a")],
        nodes=[_zoned_node("zone-a"), _zoned_node("zone-b")],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-zone-b": 1}


def test_planned_pods_keep_others_away() -> None:
    guard = a_shape(1, cpu="2", labels={"app": "db"}, anti_affinity=(a_term(ZONE),))
    plan = plan_of(shapes=[guard, a_shape(2, cpu="1")], pods=[*pods(1, 1), *pods(3, 2)])

    by_pods = {len(claim.pod_uids): claim.cheapest.zone for claim in plan.nodeclaims}
    assert by_pods[1] != by_pods[3]


def test_a_node_without_the_key_is_far_from_everyone() -> None:
    plan = plan_of(
        shapes=[a_shape(cpu="100m", anti_affinity=(a_term("example.com/rack"),))],
        pods=pods(2),
        nodes=[a_node()],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 2}


def test_pods_do_not_keep_apart_by_a_host_name_that_a_node_lacks() -> None:
    nameless = a_node()
    labels = tuple(pair for pair in nameless.labels if pair[0] != label_keys.HOSTNAME)
    plan = plan_of(
        shapes=[a_shape(anti_affinity=(a_term(),))],
        pods=pods(2),
        nodes=[replace(nameless, labels=labels)],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 2}
