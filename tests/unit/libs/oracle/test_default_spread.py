"""Spread constraints that the scheduler's configuration gives to pods without any."""

from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from tests.unit.libs.oracle.kube import Obj, node, pod, spread

HARD = [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
SOFT = [{**HARD[0], "whenUnsatisfiable": "ScheduleAnyway"}]
CONTROLLER = {"kind": "ReplicaSet", "name": "web", "controller": True}


def _object(kind: str, selector: Any, name: str = "web", namespace: str = "default") -> Obj:
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector},
    }


def _owned(name: str, kind: str = "ReplicaSet", **spec: Any) -> Obj:
    found = pod(name, labels={"app": "web", "tier": "front"}, requests={}, **spec)
    owner = {**CONTROLLER, "kind": kind}
    return {**found, "metadata": {**found["metadata"], "ownerReferences": [owner]}}


SERVICE = _object("Service", {"app": "web"})
REPLICA_SET = _object("ReplicaSet", {"matchLabels": {"app": "web"}})
STATEFUL_SET = _object("StatefulSet", {"matchLabels": {"app": "web"}})
REPLICATION_CONTROLLER = _object("ReplicationController", {"app": "web"})
ELSEWHERE = _object("Service", {"app": "web"}, namespace="other")
NOT_ITS = _object("Service", {"app": "api"})
OF_NOTHING = _object("Service", None)
OF_ALL = _object("Service", {})
NARROW = _object("Service", {"tier": "front"}, name="narrow")
RUNNING = {"kind": "Pod", **_owned("running", nodeName="n1")}


def _feasible(objects: list[Obj], asking: Obj, default: list[Obj]) -> tuple[str, ...]:
    cluster = Cluster(default)
    for one in (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})):
        cluster.put("Node", one)
    for one in (RUNNING, *objects):
        cluster.put(one["kind"], one)
    return judge(cluster.copy(), asking).feasible


BOTH = ("n1", "n2")


@pytest.mark.parametrize(
    ("objects", "asking", "default", "feasible"),
    [
        pytest.param([SERVICE], _owned("new"), HARD, ("n2",), id="its service selects"),
        pytest.param([REPLICA_SET], _owned("new"), HARD, ("n2",), id="its replica set selects"),
        pytest.param(
            [STATEFUL_SET],
            _owned("new", "StatefulSet"),
            HARD,
            ("n2",),
            id="its stateful set selects",
        ),
        pytest.param(
            [REPLICATION_CONTROLLER],
            _owned("new", "ReplicationController"),
            HARD,
            ("n2",),
            id="its replication controller selects",
        ),
        pytest.param(
            [_object("Service", {"tier": "back"}, name="b"), SERVICE, NARROW],
            _owned("new"),
            HARD,
            ("n2",),
            id="services are merged",
        ),
        pytest.param([STATEFUL_SET], _owned("new"), HARD, BOTH, id="another kind's"),
        pytest.param([ELSEWHERE], _owned("new"), HARD, BOTH, id="service of another namespace"),
        pytest.param([NOT_ITS], _owned("new"), HARD, BOTH, id="service of other pods"),
        pytest.param([OF_NOTHING], _owned("new"), HARD, BOTH, id="service without a selector"),
        pytest.param([OF_ALL], _owned("new"), HARD, BOTH, id="an empty selector says nothing"),
        pytest.param([], _owned("new"), HARD, BOTH, id="nothing selects it"),
        pytest.param([SERVICE], _owned("new"), SOFT, BOTH, id="soft ones refuse no node"),
        pytest.param([SERVICE], _owned("new"), [], BOTH, id="no defaults"),
        pytest.param(
            [SERVICE],
            _owned("new", topologySpreadConstraints=spread("api")),
            HARD,
            BOTH,
            id="it has constraints of its own",
        ),
    ],
)
def test_defaults_count_what_selects_the_pod(
    objects: list[Obj], asking: Obj, default: list[Obj], feasible: tuple[str, ...]
) -> None:
    assert _feasible(objects, asking, default) == feasible


def test_a_service_that_is_deleted_selects_no_more() -> None:
    cluster = Cluster(HARD)
    for one in (node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})):
        cluster.put("Node", one)
    for one in (RUNNING, SERVICE, REPLICA_SET):
        cluster.put(one["kind"], one)

    for kind in ("Service", "ReplicaSet"):
        cluster.delete(kind, "default/web")

    assert judge(cluster, _owned("new")).feasible == BOTH
