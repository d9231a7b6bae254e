"""The scheduler on a living cluster."""

from datetime import timedelta
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.api.server import ApiServer
from services.simulator.core.objects import condition_of
from services.simulator.core.scheduler.scheduler import Scheduler
from tests.unit.services.simulator.living import (
    START,
    Living,
    a_node,
    a_pod,
    a_workload,
    living,
)


def scheduled(cluster: Living, name: str) -> dict[str, Any]:
    condition = condition_of(cluster.api.get("pods", name, "default"), "PodScheduled")
    assert condition is not None
    return condition


def node_of(cluster: Living, name: str) -> str:
    spec: dict[str, Any] = cluster.api.get("pods", name, "default")["spec"]
    return str(spec.get("nodeName", ""))


def test_a_pod_without_a_place_says_why_in_kube_schedulers_words() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("pods", a_pod("early"), "default")
            await cluster.after(0.1)
            assert scheduled(cluster, "early")["message"] == ("no nodes available to schedule pods")

            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            await cluster.until(cluster.running)
            cluster.api.create("pods", a_pod("large", cpu="5"), "default")
            await cluster.after(0.1)

            condition = scheduled(cluster, "large")
            assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
            assert condition["message"] == (
                "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
                "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
            )

    run_virtual(scenario())


def test_a_refusal_is_written_once_while_it_stays_the_same() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("pods", a_pod("large", cpu="5"), "default")
            await cluster.after(5)
            before = cluster.api.get("pods", "large", "default")
            for number in range(3):  # changes that cannot help, and one that could
                cluster.api.create("pods", a_pod(f"p{number}"), "default")
                await cluster.after(1)
            cluster.api.delete("pods", "p1", "default")
            await cluster.after(5)

            assert cluster.api.get("pods", "large", "default") == before

    run_virtual(scenario())


def test_a_node_is_used_only_when_it_is_ready() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("pods", a_pod("p"), "default")
            cluster.api.create("nodes", a_node())
            await cluster.after(0.9)
            assert node_of(cluster, "p") == ""
            assert "untolerated taint" in scheduled(cluster, "p")["message"]

            await cluster.after(0.2)

            assert node_of(cluster, "p") == "n1"

    run_virtual(scenario())


@pytest.mark.parametrize(
    "help_it",
    [
        pytest.param(
            lambda api: api.create("nodes", a_node("n2", labels={"pool": "x"})), id="a new node"
        ),
        pytest.param(
            lambda api: api.patch("nodes", "n1", {"metadata": {"labels": {"pool": "x"}}}),
            id="a new label",
        ),
    ],
)
def test_what_could_help_is_tried(help_it: Any) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            await cluster.after(2)
            cluster.api.create("pods", a_pod("p", nodeSelector={"pool": "x"}), "default")
            await cluster.after(1)
            assert node_of(cluster, "p") == ""

            help_it(cluster.api)
            await cluster.after(2)

            assert node_of(cluster, "p")

    run_virtual(scenario())


def test_room_that_another_pod_leaves_is_taken() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("pods", a_pod("first", cpu="3"), "default")
            await cluster.until(cluster.running)
            cluster.api.create("pods", a_pod("second", cpu="3"), "default")
            await cluster.after(1)
            assert node_of(cluster, "second") == ""

            cluster.api.delete("pods", "first", "default")
            await cluster.after(0.5)

            assert node_of(cluster, "second") == "n1"

    run_virtual(scenario())


def test_a_pod_follows_the_pod_that_it_wants_to_be_near() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            for zone in ("zone-a", "zone-b"):
                cluster.api.create("nodes", a_node(f"n-{zone}", zone))
            term = {
                "labelSelector": {"matchLabels": {"app": "leader"}},
                "topologyKey": "topology.kubernetes.io/zone",
            }
            near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
            cluster.api.create("pods", a_pod("follower", affinity=near), "default")
            await cluster.after(2)
            assert node_of(cluster, "follower") == ""

            leader = a_pod("leader", nodeSelector={"kubernetes.io/hostname": "n-zone-b"})
            cluster.api.create("pods", leader, "default")
            await cluster.after(0.5)

            assert node_of(cluster, "follower") == "n-zone-b"

    run_virtual(scenario())


def test_the_highest_priority_comes_first_then_the_oldest() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            high = {"metadata": {"name": "high"}, "value": 10}
            cluster.api.create("priorityclasses.scheduling.k8s.io", high)
            for name in ("old", "young"):
                cluster.api.create("pods", a_pod(name, cpu="3"), "default")
                await cluster.after(1)
            pod = a_pod("urgent", cpu="3", priorityClassName="high")
            cluster.api.create("pods", pod, "default")
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            await cluster.after(3)

            assert [node_of(cluster, name) != "" for name in ("urgent", "old", "young")] == [
                True,
                True,
                False,
            ]

    run_virtual(scenario())


def test_gated_and_foreign_pods_are_left_alone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            gated = a_pod("gated", schedulingGates=[{"name": "example.com/wait"}])
            cluster.api.create("pods", gated, "default")
            foreign = a_pod("foreign", schedulerName="other")
            cluster.api.create("pods", foreign, "default")
            await cluster.after(3)
            assert scheduled(cluster, "gated")["reason"] == "SchedulingGated"
            assert node_of(cluster, "foreign") == ""

            cluster.api.patch("pods", "gated", {"spec": {"schedulingGates": []}}, "default")
            await cluster.after(0.5)

            assert node_of(cluster, "gated") == "n1"
            assert node_of(cluster, "foreign") == ""

    run_virtual(scenario())


def test_no_node_gets_more_than_it_has() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            for number in range(5):
                cluster.api.create("nodes", a_node(f"n{number}"))
            web = a_workload("web", replicas=60)  # 500m each, 8 fit on a node
            cluster.api.create("deployments.apps", web, "default")
            await cluster.after(5)

            counts: dict[str, int] = {}
            for pod in cluster.running():
                node = pod["spec"]["nodeName"]
                counts[node] = counts.get(node, 0) + 1

            assert counts == {f"n{number}": 8 for number in range(5)}

    run_virtual(scenario())


def test_two_runs_place_alike() -> None:
    async def scenario() -> list[tuple[str, str]]:
        async with living() as cluster:
            for number in range(7):
                cluster.api.create("nodes", a_node(f"n{number}", zone=f"zone-{number % 3}"))
            for app in ("a", "b", "c"):
                web = a_workload(app, replicas=9)
                cluster.api.create("deployments.apps", web, "default")
            await cluster.after(5)
            return [(p["metadata"]["name"], p["spec"]["nodeName"]) for p in cluster.pods()]

    assert run_virtual(scenario()) == run_virtual(scenario())


@pytest.mark.parametrize(
    ("lose", "later"),
    [
        pytest.param(True, timedelta(), id="its node goes"),
        pytest.param(False, timedelta(minutes=10), id="its volume does not come in time"),
    ],
)
def test_a_pod_that_waits_for_its_volume_in_vain_is_tried_anew(
    lose: bool, later: timedelta
) -> None:
    api = ApiServer(lambda: START, lambda: "uid", lambda: "aaaaa").direct
    storage_class = {
        "metadata": {"name": "fast"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    api.create("storageclasses.storage.k8s.io", storage_class)
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    api.create("persistentvolumeclaims", claim, "default")
    api.create("nodes", a_node("n1"))
    mount = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    api.create("pods", a_pod("p", volumes=[mount]), "default")
    scheduler = Scheduler(api)  # and nobody who makes volumes
    scheduler.step(START)
    selected = api.get("persistentvolumeclaims", "data", "default")["metadata"]["annotations"]
    assert selected == {"volume.kubernetes.io/selected-node": "n1"}
    assert condition_of(api.get("pods", "p", "default"), "PodScheduled") is None

    if lose:
        api.delete("nodes", "n1")
    else:
        api.patch("nodes", "n1", {"spec": {"unschedulable": True}})
    scheduler.step(START + later)

    condition = condition_of(api.get("pods", "p", "default"), "PodScheduled")
    assert condition is not None
    assert condition["reason"] == "Unschedulable"
