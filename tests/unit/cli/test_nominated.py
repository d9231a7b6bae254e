"""Pods for which a node is nominated, and which nodes others may go to: oracle and solver agree.

The answers are those of kube-scheduler 1.36, which asks twice about a node: with the nominated pods
that go before, and without any.
"""

import json
from typing import Any

import pytest

from cli.replaying import replay
from libs.oracle.replay import replay as replay_with_oracle
from tests.unit.libs.oracle.kube import affinity, anti_affinity, node, pod, spread

ZONED = [node("n1", labels={"zone": "a"}), node("n2", labels={"zone": "b"})]


def _nominated(name: str, on: str, **spec: Any) -> dict[str, Any]:
    found = pod(name, labels=spec.pop("labels", {"app": "next"}), **spec)
    found["metadata"]["uid"] = name
    return {**found, "status": {"nominatedNodeName": on}}


def _bound(name: str, on: str, **spec: Any) -> dict[str, Any]:
    return pod(name, nodeName=on, **spec)


def _shunning() -> dict[str, Any]:
    """Return a pod on a full node that must not have one of these on its host."""
    return _bound("shunning", "n4", requests={"cpu": "0"}, affinity=anti_affinity("a"))


def _line(pending: dict[str, Any], pods: list[dict[str, Any]], feasible: list[str]) -> str:
    verdict = {"schedulable": bool(feasible), "feasibleNodes": feasible}
    uid = {**pending["metadata"], "uid": "asked"}
    asked = {**pending, "metadata": uid}
    recorded = {"id": 1, "pending": asked, "nodes": ZONED, "pods": pods, "verdict": verdict}
    return json.dumps(recorded)


LARGE = {"requests": {"cpu": "3"}}


@pytest.mark.parametrize(
    ("priority", "theirs", "feasible"),
    [
        pytest.param(1, 2, ["n2"], id="lower"),
        pytest.param(2, 2, ["n2"], id="equal"),
        pytest.param(3, 2, ["n1", "n2"], id="higher"),
        pytest.param(None, 0, ["n2"], id="none is zero"),
        pytest.param(None, -1, ["n1", "n2"], id="none is above negative ones"),
    ],
)
def test_a_nominated_pod_has_its_room_before_pods_of_no_higher_priority(
    priority: int | None, theirs: int, feasible: list[str]
) -> None:
    own: dict[str, Any] = {} if priority is None else {"priority": priority}
    there = [_nominated("next", "n1", priority=theirs, **LARGE)]

    _both_say(_line(pod("a", requests={"cpu": "2"}, **own), there, feasible))


@pytest.mark.parametrize(
    ("asked", "feasible"),
    [
        pytest.param({"affinity": anti_affinity("next")}, ["n2"], id="apart from it"),
        pytest.param({"affinity": affinity("next")}, [], id="near it, which nobody is yet"),
        pytest.param({"affinity": anti_affinity("other")}, ["n1", "n2"], id="apart from others"),
        pytest.param(
            {"topologySpreadConstraints": spread("next")}, ["n1", "n2"], id="a skew of one"
        ),
        pytest.param({"ports": [{"hostPort": 80}]}, ["n2"], id="its host port"),
        pytest.param({"requests": {"cpu": "1"}}, ["n1", "n2"], id="beside it"),
        pytest.param({"requests": {"cpu": "2"}}, ["n2"], id="more than it leaves"),
    ],
)
def test_a_nominated_pod_counts_for_every_filter(
    asked: dict[str, Any], feasible: list[str]
) -> None:
    there = [_nominated("next", "n1", ports=[{"hostPort": 80}], **LARGE)]

    _both_say(_line(pod("a", **asked), there, feasible))


@pytest.mark.parametrize(
    ("more", "feasible"),
    [
        pytest.param([], ["n1", "n2", "n3"], id="nobody looks at neighbours"),
        # The other node of that zone has no nominated pod, and is not refused.
        pytest.param([_shunning()], ["n2", "n3"], id="somebody is shunned anyway"),
    ],
)
def test_whom_a_nominated_pod_shuns_counts_only_on_its_node_and_if_neighbours_count_at_all(
    more: list[dict[str, Any]], feasible: list[str]
) -> None:
    own = _nominated("next", "n1", affinity=anti_affinity("a", key="zone"))
    nodes = [*ZONED, node("n3", labels={"zone": "a"}), node("n4")]
    taken = _bound("full", "n4", requests={"cpu": "4"})
    line = json.loads(_line(pod("a", labels={"app": "a"}), [own, taken, *more], feasible))

    _both_say(json.dumps({**line, "nodes": nodes}))


def test_several_nominated_pods_count_together() -> None:
    there = [_nominated(name, "n1", requests={"cpu": "1500m"}) for name in ("x", "y")]

    _both_say(_line(pod("a", requests={"cpu": "2"}), there, ["n2"]))


def test_a_pod_is_not_in_its_own_way() -> None:
    pending = {**pod("a", **LARGE), "status": {"nominatedNodeName": "n1"}}

    _both_say(_line(pending, [], ["n1", "n2"]))


def _both_say(line: str) -> None:
    (solver,) = replay([line])
    assert solver.differences == ()
    (oracle,) = replay_with_oracle([line])
    assert [one for one in oracle.differences if one.startswith(("schedulable", "feasible"))] == []
