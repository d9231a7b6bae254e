"""Nodes that fall silent: conditions, taints, the pods on them, and their return."""

from datetime import timedelta
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers import zones
from services.simulator.core.controllers.zones import ZoneState
from services.simulator.core.kubelet.fate import FateBook, FateRule, NodeFate
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import condition_of, is_true, read_stamp
from tests.unit.services.simulator.living import START, Living, a_node, a_pod, living

UNREACHABLE = "node.kubernetes.io/unreachable"
QUICK = KubeletPolicy(boot=timedelta())


def dies(name: str, at: float, until: float | None = None) -> FateRule:
    back = None if until is None else START + timedelta(seconds=until)
    fate = NodeFate(dead_since=START + timedelta(seconds=at), back_at=back)
    return FateRule(name=name, fate=fate)


def taints(cluster: Living, name: str) -> list[tuple[str, str]]:
    found = cluster.api.get("nodes", name)["spec"].get("taints") or ()
    return [(taint["key"], taint["effect"]) for taint in found]


def ready(cluster: Living, name: str) -> str:
    return str((condition_of(cluster.api.get("nodes", name), "Ready") or {}).get("status"))


def reasons(cluster: Living) -> set[tuple[str, str]]:
    events = cluster.api.list("events", "default")
    return {(event["involvedObject"]["name"], event["reason"]) for event in events}


def test_a_silent_node_is_unknown_after_fifty_seconds_and_its_pods_are_not_ready() -> None:
    async def scenario() -> None:
        async with living(QUICK, FateBook((dies("n1", 95),))) as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create("pods", a_pod("p", nodeName="n1"), "default")
            await cluster.after(138)  # the last lease is of 90
            assert ready(cluster, "n1") == "True"

            await cluster.after(3)

            node = cluster.api.get("nodes", "n1")
            condition = condition_of(node, "Ready") or {}
            assert (condition["status"], condition["reason"], condition["message"]) == (
                "Unknown",
                "NodeStatusUnknown",
                "Kubelet stopped posting node status.",
            )
            assert {c["status"] for c in node["status"]["conditions"]} == {"Unknown"}
            assert set(taints(cluster, "n1")) == {
                (UNREACHABLE, "NoSchedule"),
                (UNREACHABLE, "NoExecute"),
            }
            assert all("timeAdded" in taint for taint in node["spec"]["taints"])
            assert not is_true(cluster.api.get("pods", "p", "default"), "Ready")
            assert {("n1", "NodeNotReady"), ("p", "NodeNotReady")} <= reasons(cluster)
            assert ready(cluster, "n2") == "True"

    run_virtual(scenario())


def test_pods_leave_a_lost_node_after_five_minutes_and_stay_until_it_returns() -> None:
    async def scenario() -> None:
        async with living(QUICK, FateBook((dies("n1", 95, until=600),))) as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create("pods", a_pod("p", nodeName="n1"), "default")
            await cluster.after(435)
            assert "deletionTimestamp" not in cluster.pods()[0]["metadata"]

            await cluster.after(10)

            (pod,) = cluster.pods()
            assert "deletionTimestamp" in pod["metadata"]
            target = condition_of(pod, "DisruptionTarget") or {}
            assert target["reason"] == "DeletionByTaintManager"
            await cluster.after(140)
            assert cluster.pods()  # nobody is there to end it
            await cluster.after(20)

            assert not cluster.pods()
            assert ready(cluster, "n1") == "True"
            assert taints(cluster, "n1") == []

    run_virtual(scenario())


def test_a_node_that_returns_in_time_keeps_its_pods() -> None:
    async def scenario() -> None:
        async with living(QUICK, FateBook((dies("n1", 95, until=200),))) as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create("pods", a_pod("p", nodeName="n1"), "default")
            await cluster.after(600)

            assert is_true(cluster.pods()[0], "Ready")
            assert ("p", "TaintManagerEviction") in reasons(cluster)  # that it was called off

    run_virtual(scenario())


def test_where_every_node_is_lost_nobody_is_evicted() -> None:
    async def scenario() -> None:
        async with living(QUICK, FateBook((dies("n1", 95), dies("n2", 95)))) as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create("pods", a_pod("p", nodeName="n1"), "default")
            await cluster.after(1000)

            assert taints(cluster, "n1") == [(UNREACHABLE, "NoSchedule")]
            assert "deletionTimestamp" not in cluster.pods()[0]["metadata"]

    run_virtual(scenario())


def test_a_lost_zone_is_given_up_one_node_each_ten_seconds() -> None:
    async def scenario() -> None:
        names = [f"a{number}" for number in range(4)]
        async with living(QUICK, FateBook(tuple(dies(name, 95) for name in names))) as cluster:
            cluster.api.create("nodes", a_node("b", zone="zone-b"))
            for name in names:
                cluster.api.create("nodes", a_node(name, zone="zone-a"))
            await cluster.after(142)
            marked = []
            for _ in range(4):
                marked.append(sum((UNREACHABLE, "NoExecute") in taints(cluster, n) for n in names))
                await cluster.after(10)

            assert marked == [1, 2, 3, 4]

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("ready_nodes", "lost", "state", "pace"),
    [
        pytest.param(10, 0, ZoneState.NORMAL, 10, id="all is well"),
        pytest.param(1, 2, ZoneState.NORMAL, 10, id="two of three"),
        pytest.param(1, 3, ZoneState.PARTIAL, None, id="three of four: small zones stop"),
        pytest.param(30, 40, ZoneState.PARTIAL, 100, id="most of many: large ones slow down"),
        pytest.param(0, 1, ZoneState.FULL, 10, id="all of them"),
    ],
)
def test_the_state_of_a_zone_decides_its_pace(
    ready_nodes: int, lost: int, state: ZoneState, pace: int | None
) -> None:
    found = zones.state_of(ready_nodes, lost)

    every = zones.pace(found, ready_nodes + lost)
    assert found is state
    assert every == (None if pace is None else timedelta(seconds=pace))


@pytest.mark.parametrize(
    ("annotations", "after", "expected"),
    [
        pytest.param({"simulator.joiner.io/boot-seconds": "30"}, 29, "False", id="boots late"),
        pytest.param({"simulator.joiner.io/boot-seconds": "30"}, 31, "True", id="has booted"),
        pytest.param({"simulator.joiner.io/boot-seconds": "never"}, 900, "False", id="never"),
        pytest.param({"simulator.joiner.io/kubelet": "dead"}, 59, "None", id="says nothing"),
        pytest.param({"simulator.joiner.io/kubelet": "dead"}, 62, "Unknown", id="is given up"),
    ],
)
def test_annotations_decide_how_a_node_fares(
    annotations: dict[str, str], after: float, expected: str
) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            node: dict[str, Any] = a_node()
            node["metadata"]["annotations"] = annotations
            cluster.api.create("nodes", node)

            await cluster.after(after)

            assert ready(cluster, "n1") == expected

    run_virtual(scenario())


def test_a_kubelet_reports_its_status_every_five_minutes() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            await cluster.after(290)
            first = (condition_of(cluster.api.get("nodes", "n1"), "Ready") or {})[
                "lastHeartbeatTime"
            ]
            await cluster.after(30)

            later = (condition_of(cluster.api.get("nodes", "n1"), "Ready") or {})[
                "lastHeartbeatTime"
            ]

            span = read_stamp(later) - read_stamp(first)
            assert timedelta(minutes=5) <= span <= timedelta(minutes=5, seconds=10)

    run_virtual(scenario())
