"""Which nominated nodes may still take their pods, and which never will."""

from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.nominations import without_hope, without_nomination
from libs.oracle.objects import name_of
from tests.unit.libs.oracle.kube import affinity, anti_affinity, node, pod

ZONED = {"zone": "a"}


def _cluster(*pods: dict[str, Any], **of_node: Any) -> Cluster:
    cluster = Cluster()
    cluster.put("Node", node("n1", labels=ZONED, **of_node))
    for one in pods:
        cluster.put("Pod", one)
    return cluster


def _nominated(name: str = "next", on: str = "n1", **spec: Any) -> dict[str, Any]:
    return {**pod(name, **{"priority": 10, **spec}), "status": {"nominatedNodeName": on}}


def _ending(one: dict[str, Any]) -> dict[str, Any]:
    metadata = {**one["metadata"], "deletionTimestamp": "2026-12-01T00:00:00Z"}
    return {**one, "metadata": metadata}


def _there(**spec: Any) -> dict[str, Any]:
    return pod("there", nodeName="n1", **{"requests": {"cpu": "3"}, "priority": 10, **spec})


LARGE: dict[str, Any] = {"requests": {"cpu": "2"}}


@pytest.mark.parametrize(
    ("pods", "of_node"),
    [
        pytest.param([_nominated(**LARGE)], {}, id="it has room"),
        pytest.param([_nominated(**LARGE), _there(priority=9)], {}, id="by preempting"),
        pytest.param([_nominated(**LARGE), _ending(_there())], {}, id="once another has ended"),
        pytest.param(
            [_nominated(**LARGE), _nominated("other", requests={"cpu": "3"})],
            {},
            id="beside another one, which may go elsewhere",
        ),
        pytest.param(
            [_nominated(affinity=affinity("x")), _there(labels={"app": "x"}, priority=1)],
            {},
            id="near one that it could preempt",
        ),
        pytest.param([_nominated(on="gone")], {}, id="no such node"),
    ],
)
def test_a_nominated_node_counts_as_long_as_it_may_take_the_pod(
    pods: list[dict[str, Any]], of_node: dict[str, Any]
) -> None:
    assert list(without_hope(_cluster(*pods, **of_node))) == []


@pytest.mark.parametrize(
    ("pods", "of_node"),
    [
        pytest.param([_nominated(requests={"cpu": "5"})], {}, id="it is too small"),
        pytest.param([_nominated(**LARGE), _there()], {}, id="taken by an equal one"),
        pytest.param([_nominated()], {"unschedulable": True}, id="cordoned"),
        pytest.param(
            [_nominated()], {"taints": [{"key": "k", "effect": "NoSchedule"}]}, id="taint"
        ),
        pytest.param([_nominated(nodeSelector={"zone": "b"})], {}, id="elsewhere"),
        pytest.param(
            [_nominated(affinity=anti_affinity("x")), _there(labels={"app": "x"})],
            {},
            id="apart from one that stays",
        ),
    ],
)
def test_a_node_that_refuses_whoever_leaves_it_does_not(
    pods: list[dict[str, Any]], of_node: dict[str, Any]
) -> None:
    cluster = _cluster(*pods, **of_node)
    running = {key: one.obj for key, one in cluster.pods.items()}

    assert [name_of(one) for one in without_hope(cluster)] == ["next"]
    assert {key: one.obj for key, one in cluster.pods.items()} == running


def test_a_pod_whose_nomination_is_given_up_keeps_all_else() -> None:
    found = without_nomination(
        {**_nominated(), "status": {"nominatedNodeName": "n1", "phase": "x"}}
    )

    assert found == {**_nominated(), "status": {"phase": "x"}}
