"""Daemon pods count where topology looks at them: those that run, and those of new nodes."""

from typing import Any

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.plan import Plan
from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from tests.support.builders import (
    a_daemonset,
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
    the_rejection,
    zones,
)

LOGS = {"app": "logs"}
NEAR_LOGS = a_term(selector=selecting(app="logs"))


def _plan(shape: PodShape, count: int = 1, *, nodes: tuple[Node, ...] = (), **daemon: Any) -> Plan:
    """Return the plan for pods where a DaemonSet runs on every node."""
    agent = a_shape(100, cpu="100m", **{"labels": LOGS, **daemon})
    running = [a_pod(f"agent-{node.name}", 100, node=node.name) for node in nodes]
    return plan_of(
        shapes=[shape, agent],
        pods=[*pods(count, shape.id), *running],
        daemonsets=[a_daemonset()],
        nodes=nodes,
    )


def test_a_pod_that_keeps_away_from_a_daemon_has_no_place() -> None:
    plan = _plan(a_shape(anti_affinity=(NEAR_LOGS,)), nodes=(a_node(),))

    assert left_over(plan) == 1
    assert the_rejection(plan).rule is Rule.POD_ANTI_AFFINITY


def test_a_pod_that_keeps_away_goes_where_the_daemon_does_not_run() -> None:
    small = require((label_keys.INSTANCE_TYPE, "In", ["m-2", "m-4"]))

    plan = _plan(a_shape(anti_affinity=(NEAR_LOGS,)), node_selector=small)

    assert [claim.instance_types for claim in plan.nodeclaims] == [("m-8", "m-16")]


def test_a_daemon_keeps_pods_away() -> None:
    plan = _plan(a_shape(), anti_affinity=(a_term(),))

    assert left_over(plan) == 1


def test_a_pod_that_wants_to_be_near_a_daemon_gets_a_new_node() -> None:
    assert on_new(_plan(a_shape(affinity=(NEAR_LOGS,)), 2)) == [2]


def test_a_pod_that_wants_to_be_near_a_daemon_goes_where_it_runs() -> None:
    assert on_nodes(_plan(a_shape(affinity=(NEAR_LOGS,)), nodes=(a_node(),))) == {"node-1": 1}


def test_daemons_on_every_host_do_not_use_up_the_skew() -> None:
    spread = a_spread(label_keys.HOSTNAME, selector=selecting(tier="x"))
    shape = a_shape(labels={"tier": "x"}, topology_spread=(spread,))

    plan = _plan(shape, 3, nodes=(a_node("n1"), a_node("n2")), labels={"tier": "x"})

    assert (on_nodes(plan), on_new(plan)) == ({"n1": 1, "n2": 1}, [1])


def test_a_new_node_brings_its_daemon_to_the_zone() -> None:
    spread = a_spread(selector=selecting(tier="x"), max_skew=2)
    shape = a_shape(cpu="15", labels={"tier": "x"}, topology_spread=(spread,))

    plan = _plan(shape, 3, labels={"tier": "x"})

    assert zones(plan) == ["zone-a", "zone-b", "zone-c"]


def test_a_daemon_is_near_only_where_the_node_has_the_key() -> None:
    near = a_term("rack", selector=selecting(app="logs"))

    assert left_over(_plan(a_shape(affinity=(near,)))) == 1


def test_a_daemon_is_not_too_near_where_the_node_lacks_the_key() -> None:
    apart = a_term("rack", selector=selecting(app="logs"))

    assert on_new(_plan(a_shape(anti_affinity=(apart,)))) == [1]


def test_a_pool_that_a_pod_cannot_use_brings_it_no_empty_host() -> None:
    agent = a_shape(100, cpu="100m", labels=LOGS)
    spread = a_spread(label_keys.HOSTNAME, selector=selecting(app="logs"))
    plan = plan_of(
        shapes=[a_shape(labels=LOGS, topology_spread=(spread,)), agent],
        pods=pods(1),
        nodepools=[a_pool(), a_pool("other", taints=(a_taint(),))],
        daemonsets=[a_daemonset()],
    )

    assert on_new(plan) == [1]


def test_daemons_that_fill_the_only_zone_do_not_use_up_the_skew() -> None:
    only = require((label_keys.ZONE, "In", ["zone-a"]))
    agent = a_shape(100, cpu="100m", labels=LOGS)
    plan = plan_of(
        shapes=[
            a_shape(labels=LOGS, topology_spread=(a_spread(selector=selecting(**LOGS)),)),
            agent,
        ],
        pods=pods(1),
        nodepools=[a_pool(requirements=only)],
        daemonsets=[a_daemonset(), a_daemonset("agent-2")],
    )

    assert on_new(plan) == [1]


def test_a_claim_without_the_daemon_of_some_zones_says_in_which_it_is() -> None:
    everywhere_else = require((label_keys.ZONE, "NotIn", ["zone-c"]))
    shape = a_shape(anti_affinity=(NEAR_LOGS,))

    (claim,) = _plan(shape, node_selector=everywhere_else).nodeclaims

    assert claim.requirements.get(label_keys.ZONE) == require(
        (label_keys.ZONE, "In", ["zone-c"])
    ).get(label_keys.ZONE)
