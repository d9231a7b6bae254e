"""What is said of pods that need no place or have one, and of names that nobody has."""

from typing import Any

import pytest

from libs.domain import labels as label_keys
from libs.domain.errors import NotFound
from libs.domain.explanation import Explanation, PodSituation
from libs.domain.nodepool import NodePool
from libs.domain.pod import HostPort, Owner, PodPhase, PodShape, Target
from libs.domain.question import SubjectKind
from libs.domain.reason import Rule, TargetKind
from libs.domain.solution import SolveOptions
from libs.domain.workload import SetAside
from services.solver.core.explaining.explain import explain
from tests.support.builders import (
    NOW,
    a_catalogue,
    a_node,
    a_nodeclaim,
    a_pod,
    a_pool,
    a_shape,
    a_snapshot,
    a_spread,
    a_taint,
    a_type,
    amounts,
    an_offering,
    an_owner,
    pods,
)

ZONE = label_keys.ZONE


def _of(kind: SubjectKind, subject: str, **snapshot: Any) -> Explanation:
    return explain(a_snapshot(**snapshot), SolveOptions(), kind, subject)


@pytest.mark.parametrize(
    ("pod", "situation", "said"),
    [
        pytest.param({"phase": PodPhase.SUCCEEDED}, PodSituation.ENDED, "Succeeded", id="ended"),
        pytest.param({"node": "node-1"}, PodSituation.ON_NODE, '"node-1"', id="on a node"),
        pytest.param(
            {"node": "node-1", "deleting_ms": 1}, PodSituation.DELETING, "deleted", id="deleting"
        ),
        pytest.param(
            {"provisionable": False, "owner": an_owner("DaemonSet", "agent")},
            PodSituation.DAEMON,
            'DaemonSet "agent"',
            id="daemon",
        ),
        pytest.param(
            {
                "node": "node-1",
                "owner": Owner(api_version="v1", kind="Node", name="node-1", uid="n"),
            },
            PodSituation.STATIC,
            "static manifest",
            id="mirror of a static pod",
        ),
        pytest.param({"provisionable": False}, PodSituation.HELD, "scheduling gates", id="held"),
        pytest.param({}, PodSituation.PLACED, 'node "node-1", which has room', id="waiting"),
        pytest.param(
            {"target": Target(TargetKind.NODE, "node-1")},
            PodSituation.PLACED,
            "where the last plan put it",
            id="expected",
        ),
    ],
)
def test_the_situation_of_a_pod(pod: dict[str, Any], situation: PodSituation, said: str) -> None:
    found = _of(SubjectKind.POD, "uid-pod-1", pods=[a_pod(**pod)], nodes=[a_node()]).pod

    assert found is not None
    assert found.situation is situation
    assert said in found.message


def test_a_pod_of_a_leaving_node_is_asked_about_as_if_it_waited() -> None:
    found = _of(
        SubjectKind.POD,
        "uid-pod-1",
        pods=[a_pod(node="node-1", owner=an_owner())],
        nodes=[a_node(leaving=True)],
    )

    assert found.pod is not None
    assert found.pod.situation is PodSituation.PLACED
    assert found.pod.planned is not None


def test_a_pod_that_was_left_out_is_told_its_problem() -> None:
    item = SetAside(
        kind="Pod", namespace="shop", name="web", field="spec.x", message="is odd", since=NOW
    )

    found = _of(SubjectKind.POD_NAME, "shop/web", set_aside=[item])

    assert found.pod is not None
    assert found.pod.situation is PodSituation.SET_ASIDE
    assert found.unplaceable is not None
    assert found.unplaceable.message == "spec.x: is odd"


def test_where_a_pod_goes_and_why_there() -> None:
    pools = [a_pool("first", weight=5, taints=(a_taint(),)), a_pool("second")]
    small = a_node(allocatable=amounts(cpu="100m", memory="1Gi", pods=9))

    found = _of(SubjectKind.POD, "uid-s1-00001", pods=pods(2), nodepools=pools, nodes=[small])

    assert found.pod is not None
    assert found.pod.planned is not None
    assert found.pod.planned.nodepool == "second"
    assert found.pod.message == (
        'it goes to a new node of nodepool "second": m-2 in zone-a, spot, the cheapest of 4 '
        'instance types that fit, with 1 other pod; nodepool "first", tried first, refuses by '
        "taints; the node that exists does not take it"
    )
    assert found.options_by_price[0] == found.pod.planned.cheapest
    prices = [one.price_nanos_per_hour for one in found.options_by_price]
    assert prices == sorted(prices)


def test_a_claim_in_flight_takes_a_pod() -> None:
    claim = a_nodeclaim(allocatable=amounts(cpu=4, memory="16Gi", pods=9))

    found = _of(SubjectKind.POD, "uid-s1-00001", pods=pods(1), nodeclaims=[claim])

    assert found.nomination is not None
    assert (found.nomination.target_kind, found.nomination.target) == (
        TargetKind.NODECLAIM,
        "claim-1",
    )


def test_of_a_nominated_node_that_nothing_makes_suit_it_is_said_that_it_cannot_take_the_pod() -> (
    None
):
    marked = a_node("marked", taints=(a_taint(),))

    found = _of(
        SubjectKind.POD, "uid-next", pods=[a_pod("next", nominated="marked")], nodes=[marked]
    )

    assert found.pod is not None
    assert found.pod.message.endswith(
        'the node that exists does not take it; node "marked", nominated for it, cannot take it, '
        "whoever leaves it"
    )


def test_what_is_kept_for_a_nominated_pod_is_not_counted_against_itself() -> None:
    own = a_shape(1, cpu="2", host_ports=(HostPort(port=80),))
    victim = a_pod("victim", 2, node="node-1", deleting_ms=1)
    waiting = {"nominated": "node-1", "priority": 5}

    found = _of(
        SubjectKind.POD,
        "uid-next",
        shapes=[own, a_shape(2, cpu="2"), a_shape(3, cpu="500m")],
        pods=[a_pod("next", 1, **waiting), a_pod("other", 3, **waiting), victim],
        nodes=[a_node(allocatable=amounts(cpu=3, memory="16Gi", pods=9))],
    )

    assert found.pod is not None
    (nearest,) = found.pod.nearest
    assert nearest.rule is Rule.RESOURCES
    assert nearest.message == (
        "2 cpu asked, 500m free; 500m cpu of the rest is kept for pod default/other, for which the "
        "node is nominated"
    )


def test_for_each_rule_the_nearest_node_is_named_with_its_numbers() -> None:
    rooms = {"far": "1", "near": "2500m"}
    nodes = [
        a_node(name, allocatable=amounts(cpu=cpu, memory="4Gi", pods=9))
        for name, cpu in rooms.items()
    ]
    nodes += [a_node("marked", taints=(a_taint(),)), a_node("closed", unschedulable=True)]

    found = _of(
        SubjectKind.POD,
        "uid-s1-00001",
        shapes=[a_shape(cpu="3")],
        pods=pods(1),
        nodes=nodes,
        nodepools=[],
    )

    assert found.pod is not None
    assert [(one.rule, one.target, one.message) for one in found.pod.nearest] == [
        (Rule.NODE_UNAVAILABLE, "closed", "it is cordoned"),
        (Rule.RESOURCES, "near", "3 cpu asked, 2500m free"),
        (Rule.TAINTS, "marked", "taint dedicated:NoSchedule is not tolerated"),
    ]
    assert found.unplaceable is not None
    assert found.unplaceable.existing == (
        (Rule.NODE_UNAVAILABLE, 1),
        (Rule.RESOURCES, 2),
        (Rule.TAINTS, 1),
    )


@pytest.mark.parametrize(
    ("kind", "subject", "said"),
    [
        pytest.param(
            SubjectKind.POD_NAME,
            "default/web",
            '"prod/web", "default/web-7d4b9-abcde"',
            id="namespace or suffix",
        ),
        pytest.param(SubjectKind.POD, "nobody", 'no pod with uid "nobody"', id="uid"),
        pytest.param(SubjectKind.NODEPOOL, "defualt", '"default"', id="pool"),
        pytest.param(SubjectKind.NODE, "x", "there is no node at all", id="no nodes"),
    ],
)
def test_an_unknown_name_gets_those_that_were_perhaps_meant(
    kind: SubjectKind, subject: str, said: str
) -> None:
    rows = [a_pod("web", namespace="prod"), a_pod("web-7d4b9-abcde")]

    with pytest.raises(NotFound, match=said):
        _of(kind, subject, pods=rows)


# A spread looks at more than kube-scheduler's.


_ZONES = ("zone-a", "zone-b")


def _spread_out(key: str, **snapshot: Any) -> dict[str, Any]:
    """Return a cluster with a node and a pod in two zones, and one that is to be spread over a key.

    In a third zone, which has no node, one can be bought.
    """
    return {
        "shapes": [a_shape(topology_spread=(a_spread(key=key),)), a_shape(2)],
        "nodes": [a_node(f"n-{zone}", labels={ZONE: zone}) for zone in _ZONES],
        "pods": [a_pod("it"), *(a_pod(f"in-{zone}", 2, node=f"n-{zone}") for zone in _ZONES)],
        "catalogues": [
            a_catalogue(a_type(offerings=(an_offering(zone="zone-a"), an_offering(zone="zone-c"))))
        ],
        **snapshot,
    }


@pytest.mark.parametrize(
    ("key", "why"),
    [
        pytest.param(
            ZONE,
            f"{ZONE} zone-c has no node yet, one can be bought there and is the emptiest for its "
            "spread",
            id="zones",
        ),
        pytest.param(
            label_keys.HOSTNAME,
            "a new node counts as a host without pods, which its spread over hosts prefers",
            id="hosts",
        ),
    ],
)
def test_nodes_that_are_passed_over_for_a_domain_without_nodes_are_named(
    key: str, why: str
) -> None:
    found = _of(SubjectKind.POD_NAME, "default/it", **_spread_out(key))

    assert found.pod is not None
    assert found.pod.planned is not None
    assert found.pod.message.endswith(
        f"; {why}; kube-scheduler itself, which counts only nodes that exist, would take node "
        "n-zone-a, n-zone-b"
    )


def test_nodes_count_as_the_plan_leaves_them() -> None:
    """Of three pods one goes to each zone: without the third zone it would be either node."""
    names = ["first", "second", "third"]
    three = _spread_out(ZONE, pods=[a_pod(name) for name in names])

    told = [_of(SubjectKind.POD_NAME, f"default/{name}", **three).pod for name in names]

    (new,) = [pod for pod in told if pod is not None and pod.planned is not None]
    assert new.message.endswith("would take node n-zone-a, n-zone-b")


def test_no_node_is_passed_over_that_would_not_do_anyway() -> None:
    full = [a_pod(f"full-{zone}", 3, node=f"n-{zone}") for zone in _ZONES]
    spread = _spread_out(ZONE)
    spread["shapes"] = [*spread["shapes"], a_shape(3, cpu="3", labels={})]

    found = _of(SubjectKind.POD_NAME, "default/it", **spread | {"pods": [a_pod("it"), *full]})

    assert found.pod is not None
    assert "kube-scheduler" not in found.pod.message


_SMALL = a_node("small", allocatable=amounts(cpu=3, memory=2**33, pods=110))
_TEAM = a_pool("team", taints=(a_taint("team"),))
_FULL = a_pool("full", limits=amounts(cpu=0))


@pytest.mark.parametrize(
    ("shape", "pools", "nearest"),
    [
        (
            a_shape(cpu="3001m"),
            [_FULL],
            'nearest is node "small": 3001m cpu asked, 3 free; nodepool "full": limits leave',
        ),
        (a_shape(cpu="4"), [_TEAM], 'nodepool "team": taint team:NoSchedule is not tolerated'),
        (
            a_shape(cpu="3001m"),
            [_FULL, _TEAM],
            'none of 2 nodepools can take it; nearest is nodepool "team": taint team:NoSchedule',
        ),
        (a_shape(cpu="4"), [], 'to buy one from; nearest is node "small": 4 cpu asked, 3 free'),
    ],
    ids=["a node before a pool", "a pool before a node", "a pool of two", "a node without pools"],
)
def test_the_first_line_is_about_where_the_smallest_change_leads(
    shape: PodShape, pools: list[NodePool], nearest: str
) -> None:
    found = _of(
        SubjectKind.POD_NAME,
        "default/it",
        shapes=[shape],
        pods=[a_pod("it")],
        nodes=[_SMALL],
        nodepools=pools,
    )

    assert found.pod is not None
    assert nearest in found.pod.message
    assert all(one.landing in found.pod.message for one in found.pod.changes[:1])
