"""Preferences hold until nothing else fits, and are given up in a fixed order."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.pod import PodShape
from libs.domain.solution import PreferencePolicy, SolveOptions
from libs.domain.topology import PreferredNodeTerm, WeightedPodAffinityTerm
from tests.support.builders import (
    a_node,
    a_pod,
    a_pool,
    a_shape,
    a_spread,
    a_taint,
    a_term,
    pods,
    require,
    selecting,
)
from tests.unit.services.solver.core.asking import (
    left_over,
    on_new,
    on_nodes,
    plan_of,
    the_claim,
    zones,
)

ZONE = label_keys.ZONE
IGNORE = SolveOptions(preference_policy=PreferencePolicy.IGNORE)


def _prefers(*zones: str) -> tuple[PreferredNodeTerm, ...]:
    return tuple(
        PreferredNodeTerm(weight=100 - rank, requirements=require((ZONE, "In", [zone])))
        for rank, zone in enumerate(zones)
    )


def _near(**override: Any) -> tuple[WeightedPodAffinityTerm, ...]:
    return (WeightedPodAffinityTerm(weight=1, term=a_term(**override)),)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        pytest.param({"preferred_node_terms": _prefers("zone-c")}, "zone-c", id="it is met"),
        pytest.param(
            {"preferred_node_terms": _prefers("zone-z", "zone-b")}, "zone-b", id="the next one"
        ),
        pytest.param({"preferred_node_terms": _prefers("zone-z")}, "zone-a", id="it is given up"),
        pytest.param(
            {"preferred_node_terms": _prefers("zone-c"), "selector": {ZONE: "zone-b"}},
            "zone-b",
            id="it contradicts what is required",
        ),
        pytest.param(
            {"preferred_affinity": _near(key=ZONE, selector=selecting(app="gone"))},
            "zone-a",
            id="nobody to be near",
        ),
        pytest.param(
            {
                "preferred_affinity": _near(key=ZONE, selector=selecting(app="gone")),
                "preferred_node_terms": _prefers("zone-c"),
            },
            "zone-c",
            id="pods are given up before nodes",
        ),
    ],
)
def test_preferences_are_wishes(shape: dict[str, Any], expected: str) -> None:
    plan = plan_of(shapes=[a_shape(**shape)], pods=pods(1))

    assert zones(plan) == [expected]


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param({"preferred_node_terms": _prefers("zone-c")}, id="node"),
        pytest.param({"preferred_anti_affinity": _near(key=label_keys.HOSTNAME)}, id="apart"),
        pytest.param({"topology_spread": (a_spread(required=False),)}, id="spread"),
    ],
)
def test_preferences_that_are_ignored_change_nothing(shape: dict[str, Any]) -> None:
    plan = plan_of(IGNORE, shapes=[a_shape(**shape)], pods=pods(3))

    assert on_new(plan) == [3]
    assert zones(plan) == ["zone-a"]


def test_pods_that_would_rather_be_apart_share_where_they_must() -> None:
    shape = a_shape(preferred_anti_affinity=_near(key=label_keys.HOSTNAME))
    plan = plan_of(shapes=[shape], pods=pods(3), nodes=[a_node("a"), a_node("b")], nodepools=[])

    assert sorted(on_nodes(plan).values()) == [1, 2]


def test_a_soft_spread_holds_as_long_as_it_can() -> None:
    shape = a_shape(cpu="2", topology_spread=(a_spread(required=False),))
    spread = plan_of(shapes=[shape], pods=pods(3))
    pool = a_pool(requirements=require((ZONE, "In", ["zone-a"])))
    nodes = [a_node("b", labels={ZONE: "zone-b"}, taints=(a_taint(),))]
    given_up = plan_of(shapes=[shape], pods=pods(3), nodepools=[pool], nodes=nodes)

    assert zones(spread) == ["zone-a", "zone-b", "zone-c"]
    assert left_over(given_up) == 0


def test_a_node_that_should_rather_be_left_alone_is_used_last() -> None:
    rather_not = a_taint(effect="PreferNoSchedule")
    shape = a_shape(cpu="4")
    with_pool = plan_of(shapes=[shape], pods=pods(1), nodes=[a_node(taints=(rather_not,))])
    without = plan_of(
        shapes=[shape], pods=pods(1), nodes=[a_node(taints=(rather_not,))], nodepools=[]
    )

    assert (on_nodes(with_pool), on_new(with_pool)) == ({}, [1])
    assert on_nodes(without) == {"node-1": 1}


def test_a_pool_that_should_rather_be_left_alone_is_used_last() -> None:
    rather_not = a_pool("heavy", weight=9, taints=(a_taint(effect="PreferNoSchedule"),))

    assert the_claim(plan_of(pods=pods(1), nodepools=[rather_not, a_pool()])).nodepool == "default"
    assert the_claim(plan_of(pods=pods(1), nodepools=[rather_not])).nodepool == "heavy"


def test_wishes_of_running_pods_bind_nobody() -> None:
    guard: PodShape = a_shape(
        2, cpu="100m", labels={"app": "db"}, preferred_anti_affinity=_near(key=ZONE)
    )
    plan = plan_of(
        shapes=[a_shape(cpu="100m"), guard],
        pods=[*pods(1), a_pod("guard", 2, node="node-1")],
        nodes=[a_node()],
        nodepools=[],
    )

    assert on_nodes(plan) == {"node-1": 1}
