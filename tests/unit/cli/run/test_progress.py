from collections.abc import Mapping

import pytest

from cli.run.progress import (
    PodState,
    World,
    empty_nodes,
    measure,
    prices_of,
    state_of,
    unsettled,
)
from cli.run.workload import Kind, Workload
from libs import catalogues
from libs.kube.objects.pod import Pod
from tests.unit.cli.run.objects import PRICES, a_claim, a_node, a_pod, a_world, running

WEB = Workload("web", 2, "500m", "1Gi", namespace="shop")
AGENT = Workload("agent", 0, "10m", "1Mi", namespace="kube-system", kind=Kind.DAEMON_SET)
HUGE = Workload("huge", 1, "1", "1Ti", namespace="shop", placeable=False)
WANTED = {"web": 2, "huge": 1}


@pytest.mark.parametrize(
    ("pod", "state"),
    [
        pytest.param(a_pod(), PodState.WAITING, id="no node"),
        pytest.param(a_pod(node="n1"), PodState.STARTING, id="bound"),
        pytest.param(a_pod(node="n1", ready=True), PodState.RUNNING, id="ready"),
        pytest.param(a_pod(node="n1", ready=True, leaving=True), PodState.LEAVING, id="deleted"),
        pytest.param(a_pod(node="n1", phase="Succeeded"), PodState.ENDED, id="done"),
    ],
)
def test_a_pod_is_in_one_state(pod: Pod, state: PodState) -> None:
    assert state_of(pod) is state


def test_pods_of_daemon_sets_and_the_unplaceable_are_counted_apart() -> None:
    world = a_world(
        running("web-1"),
        a_pod("web-2"),
        running("agent-1", "agent", owner="DaemonSet"),
        a_pod("huge-1", workload="huge"),
    )

    found = measure(world, (), PRICES, frozenset({"huge"}))

    assert found.pods == {PodState.RUNNING: 1, PodState.WAITING: 1}
    assert (found.daemon_pods, found.unplaceable) == (1, 1)


def test_a_pool_shows_nodes_by_state_what_is_used_of_them_and_what_they_cost() -> None:
    world = a_world(
        a_claim("general-1"),
        a_claim("general-2", node="", instance_type="m5.xlarge", initialized=False),
        a_claim("general-3", node="", instance_type="", initialized=False),
        a_claim("general-4", node="n4", leaving="Empty"),
        a_node("n1"),
        running("web-1"),
        running("agent-1", "agent", owner="DaemonSet"),
    )

    spare, general = sorted(
        measure(world, ("general", "a-spare"), PRICES, frozenset()).pools, key=lambda one: one.name
    )

    assert (spare.name, spare.nodes, spare.cpu_percent) == ("a-spare", 0, 0)
    assert (general.nodes, general.coming, general.leaving) == (1, 2, 1)
    assert (general.pods, general.cpu_percent) == (1, 50)
    assert general.price_nanos_per_hour == 200_000_000


def test_types_are_those_of_nodes_in_use_most_first() -> None:
    world = a_world(
        a_claim("1", instance_type="m5.large"),
        a_claim("2", instance_type="m5.xlarge"),
        a_claim("3", instance_type="m5.xlarge"),
        a_claim("4", instance_type="m5.large", leaving="Empty"),
    )
    types: Mapping[str, int] = measure(world, (), PRICES, frozenset()).types
    assert list(types.items()) == [("m5.xlarge", 2), ("m5.large", 1)]


def settled_world() -> World:
    return a_world(
        running("web-1"),
        running("web-2"),
        running("agent-1", "agent", owner="DaemonSet"),
        a_pod("huge-1", workload="huge"),
        a_node(),
        a_claim(),
    )


def test_nothing_is_open_when_all_that_can_run_does() -> None:
    assert list(unsettled(settled_world(), (WEB, AGENT, HUGE), WANTED)) == []


@pytest.mark.parametrize(
    ("world", "named"),
    [
        pytest.param(a_world(running("web-1")), "shop/web: 1 of 2 run", id="a pod is missing"),
        pytest.param(
            a_world(running("web-1"), running("web-2"), a_pod("web-3", leaving=True, node="n1")),
            "shop/web: 2 of 2 run, 1 do not yet",
            id="one too many is going",
        ),
        pytest.param(
            a_world(
                running("web-1"), running("web-2"), a_pod("a", workload="agent", owner="DaemonSet")
            ),
            "1 pods of DaemonSets do not run",
            id="a node agent waits",
        ),
        pytest.param(
            a_world(running("web-1"), running("web-2"), a_claim(initialized=False)),
            "general-1 is not initialized",
            id="a node is coming",
        ),
        pytest.param(
            a_world(running("web-1"), running("web-2"), a_claim(leaving="Empty")),
            "general-1 is leaving",
            id="a node is leaving",
        ),
    ],
)
def test_what_is_open_is_named(world: World, named: str) -> None:
    (found,) = unsettled(world, (WEB, AGENT, HUGE), WANTED)
    assert found.startswith(named)


def test_a_node_is_empty_if_only_daemon_sets_use_it() -> None:
    world = a_world(
        a_node("empty"),
        a_node("used"),
        a_node("stranger", pool=""),
        running("agent-1", "agent", node="empty", owner="DaemonSet"),
        running("web-1", node="used"),
    )
    assert list(empty_nodes(world)) == ["empty"]


def test_prices_are_found_by_type_zone_and_capacity_type() -> None:
    prices = prices_of(catalogues.named("kwok"))
    key = ("c-1x-amd64-linux", "test-zone-a", "spot")
    assert prices[key] < prices["c-1x-amd64-linux", "test-zone-a", "on-demand"]
