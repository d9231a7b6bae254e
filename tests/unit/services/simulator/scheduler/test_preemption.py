"""Pods that have to go for others: who, where, and what is said of it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from libs.oracle.cluster import Cluster
from libs.oracle.verdict import judge
from libs.runtime.virtual import run_virtual
from services.simulator.core.objects import condition_of
from services.simulator.core.scheduler.preemption import Preemption, search
from tests.unit.services.simulator.living import Living, Obj, a_node, a_pod, living

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ZONE = "topology.kubernetes.io/zone"


def bound(name: str, node: str, priority: int = 0, cpu: str = "2", **more: Any) -> Obj:
    pod = a_pod(name, cpu=cpu, nodeName=node, priority=priority)
    pod["metadata"] |= {"namespace": "default", "uid": name, **more.pop("metadata", {})}
    pod["status"] = more.pop("status", {})
    pod["spec"] |= more
    return pod


def pending(priority: int = 10, cpu: str = "3", **spec: Any) -> Obj:
    pod = bound("new", "", priority, cpu, **spec)
    del pod["spec"]["nodeName"]
    return pod


def budget(name: str, allowed: int, **more: Any) -> Obj:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name}}},
        "status": {"disruptionsAllowed": allowed, **more},
    }


def found(pod: Obj, *pods: Obj, nodes: int = 2, budgets: tuple[Obj, ...] = ()) -> Preemption:
    cluster = Cluster()
    for number in range(nodes):
        cluster.put("Node", a_node(f"n{number}"))  # 4 cpus each
    for one in (*pods, pod):
        cluster.put("Pod", one)
    before = judge(cluster, pod)
    result = search(cluster, pod, before, budgets, NOW)
    assert judge(cluster, pod) == before, "the search left a trace"
    return result


def victims(result: Preemption) -> tuple[str, list[str], int]:
    candidate = result.candidate
    assert candidate is not None, result.message
    names = [pod.obj["metadata"]["name"] for pod in candidate.victims]
    return candidate.node, names, candidate.violations


def started(second: int) -> Obj:
    return {"startTime": f"2025-12-31T00:00:{second:02d}Z"}


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        pytest.param(
            [bound("a", "n0", 5), bound("b", "n1", 4)],
            ("n1", ["b"], 0),
            id="the lowest of the highest priorities",
        ),
        pytest.param(
            [
                bound("a", "n0", 5),
                bound("a2", "n0", 1),
                bound("b", "n1", 5, "1"),
                bound("c", "n1", 9),
            ],
            ("n0", ["a", "a2"], 0),
            id="the highest priority counts before the number",
        ),
        pytest.param(
            [bound("a", "n0", 5, "1"), bound("a2", "n0", 5, "1"), bound("b", "n1", 5)],
            ("n0", ["a2"], 0),
            id="as few as do, the youngest first",
        ),
        pytest.param(
            [bound("a", "n0", 1, status=started(1)), bound("b", "n1", 1, status=started(2))],
            ("n1", ["b"], 0),
            id="the one that began last",
        ),
        pytest.param(
            [
                bound("a", "n0", 1, "1", status=started(9)),
                bound("a2", "n0", 1, "1", status=started(3)),
                bound("hold", "n1", 50),
            ],
            ("n0", ["a"], 0),
            id="the older one stays",
        ),
        pytest.param([bound("a", "n0"), bound("b", "n1")], ("n0", ["a"], 0), id="the first"),
    ],
)
def test_the_least_important_pods_go(pods: list[Obj], expected: tuple[str, list[str], int]) -> None:
    assert victims(found(pending(), *pods)) == expected


def test_budgets_are_spared_where_that_can_be() -> None:
    pods = [bound("a", "n0", 1), bound("b", "n1", 5)]

    assert victims(found(pending(), *pods, budgets=(budget("a", 0),))) == ("n1", ["b"], 0)
    assert victims(found(pending(), *pods, budgets=(budget("a", 1),))) == ("n0", ["a"], 0)
    both = (budget("a", 0), budget("b", 0))
    assert victims(found(pending(), *pods, budgets=both)) == ("n0", ["a"], 1)
    counted = budget("a", 0, disruptedPods={"a": "2026-01-01T00:00:00Z"})
    assert victims(found(pending(), *pods, budgets=(counted,))) == ("n0", ["a"], 0)


@pytest.mark.parametrize(
    ("pod", "pods", "message"),
    [
        pytest.param(
            pending(priority=0),
            [bound("a", "n0"), bound("b", "n1")],
            "0/2 nodes are available: 2 No preemption victims found for incoming pod.",
            id="no lower priority",
        ),
        pytest.param(
            pending(cpu="5"),
            [bound("a", "n0"), bound("b", "n1")],
            "0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
            id="too large for any node",
        ),
        pytest.param(
            pending(cpu="4"),
            [bound("a", "n0", 99), bound("b", "n0"), bound("c", "n1", 99)],
            "0/2 nodes are available: 1 Insufficient cpu, "
            "1 No preemption victims found for incoming pod.",
            id="not enough to be had",
        ),
        pytest.param(
            pending(preemptionPolicy="Never"),
            [bound("a", "n0"), bound("b", "n1")],
            "not eligible due to preemptionPolicy=Never.",
            id="a polite pod",
        ),
    ],
)
def test_why_nobody_goes_is_said(pod: Obj, pods: list[Obj], message: str) -> None:
    result = found(pod, *pods)

    assert (result.candidate, result.message) == (None, message)


def test_pods_that_keep_it_away_go() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "a"}}, "topologyKey": ZONE}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [bound("a", "n0", cpu="100m"), bound("b", "n0", cpu="100m")]

    result = found(pending(cpu="1", affinity=anti), *pods, nodes=1)

    assert victims(result) == ("n0", ["a"], 0)


def test_it_waits_for_those_that_go_already() -> None:
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    leaving = bound("a", "n0", status={"conditions": [target]})
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    pod = pending(status={"nominatedNodeName": "n0"})

    result = found(pod, leaving, bound("b", "n1"))

    assert result.message == "not eligible due to a terminating pod on the nominated node."
    assert result.keeps_nomination


async def _full(cluster: Living) -> None:
    for name, value in (("low", 1), ("high", 1000)):
        priority = {"metadata": {"name": name}, "value": value}
        cluster.api.create("priorityclasses.scheduling.k8s.io", priority)
    cluster.api.create("nodes", a_node())
    pod = a_pod("old", cpu="3", priorityClassName="low", terminationGracePeriodSeconds=30)
    cluster.api.create("pods", pod, "default")
    await cluster.until(cluster.running)


def test_a_victim_is_told_evicted_and_followed() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await _full(cluster)
            pod = a_pod("urgent", cpu="3", priorityClassName="high")
            uid = cluster.api.create("pods", pod, "default")["metadata"]["uid"]
            await cluster.after(0.1)

            victim = cluster.api.get("pods", "old", "default")
            target = condition_of(victim, "DisruptionTarget")
            assert target is not None
            assert (target["status"], target["reason"], target["message"]) == (
                "True",
                "PreemptionByScheduler",
                "default-scheduler: preempting to accommodate a higher priority pod",
            )
            assert "deletionTimestamp" in victim["metadata"]
            notes = [
                event["message"]
                for event in cluster.api.list("events", "default")
                if event["reason"] == "Preempted"
            ]
            assert notes == [f"Preempted by pod {uid} on node n1"]
            urgent = cluster.api.get("pods", "urgent", "default")
            assert urgent["status"]["nominatedNodeName"] == "n1"
            condition = condition_of(urgent, "PodScheduled")
            assert condition is not None
            assert condition["message"] == "0/1 nodes are available: 1 Insufficient cpu."

            await cluster.after(2)

            urgent = cluster.api.get("pods", "urgent", "default")
            assert urgent["spec"]["nodeName"] == "n1"
            assert "nominatedNodeName" not in urgent["status"]

    run_virtual(scenario())


def test_the_room_of_victims_is_not_taken_by_others() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await _full(cluster)
            pod = a_pod("urgent", cpu="3", priorityClassName="high")
            cluster.api.create("pods", pod, "default")
            cluster.api.create("pods", a_pod("small", cpu="2"), "default")
            await cluster.after(3)

            assert cluster.api.get("pods", "urgent", "default")["spec"]["nodeName"] == "n1"
            assert "nodeName" not in cluster.api.get("pods", "small", "default")["spec"]

    run_virtual(scenario())
