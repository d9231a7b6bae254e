"""Kubelets on a living cluster: nodes, leases, and pods from start to end."""

from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import condition_of, is_true, read_stamp
from tests.unit.services.simulator.living import a_node, a_pod, living


def test_a_node_becomes_ready_after_its_boot_and_loses_its_taint() -> None:
    async def scenario() -> None:
        async with living(KubeletPolicy(boot=timedelta(seconds=10))) as cluster:
            mine = [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]
            cluster.api.create("nodes", a_node(taints=mine))
            await cluster.after(9.9)
            node = cluster.api.get("nodes", "n1")
            keys = [taint["key"] for taint in node["spec"]["taints"]]
            assert keys == ["karpenter.sh/unregistered", "node.kubernetes.io/not-ready"]

            await cluster.after(0.2)

            node = cluster.api.get("nodes", "n1")
            assert is_true(node, "Ready")
            assert node["spec"]["taints"] == mine
            assert node["status"]["allocatable"]["cpu"] == "4"
            assert cluster.api.find("csinodes.storage.k8s.io", "n1")

    run_virtual(scenario())


def test_a_node_that_says_nothing_of_its_size_is_as_large_as_kwoks() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node(capacity={"cpu": "2"}))
            await cluster.after(2)

            status = cluster.api.get("nodes", "n1")["status"]

            assert status["capacity"] == {"cpu": "2", "memory": "1Ti", "pods": "1M"}
            assert status["allocatable"] == status["capacity"]

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("spec", "annotations", "ours"),
    [
        pytest.param({"providerID": "kwok://n1"}, {}, True, id="provider id"),
        pytest.param({}, {"kwok.x-k8s.io/node": "fake"}, True, id="annotation"),
        pytest.param({"providerID": "aws:///a/i-1"}, {}, False, id="another cloud's"),
        pytest.param({}, {}, False, id="nothing"),
    ],
)
def test_only_nodes_of_ours_are_played(
    spec: dict[str, str], annotations: dict[str, str], ours: bool
) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            node = a_node()
            node["spec"] = spec
            node["metadata"]["annotations"] = annotations
            cluster.api.create("nodes", node)
            await cluster.after(2)

            assert is_true(cluster.api.get("nodes", "n1"), "Ready") is ours

    run_virtual(scenario())


def test_drivers_and_limits_stand_on_the_csi_node() -> None:
    async def scenario() -> None:
        limits = MappingProxyType({"ebs.csi.aws.com": 3})
        async with living(KubeletPolicy(volume_limits=limits)) as cluster:
            cluster.api.create("nodes", a_node())
            await cluster.after(2)

            (driver,) = cluster.api.get("csinodes.storage.k8s.io", "n1")["spec"]["drivers"]

            assert driver["allocatable"] == {"count": 3}
            assert driver["topologyKeys"] == ["topology.kubernetes.io/zone"]

    run_virtual(scenario())


def test_a_lease_is_renewed_every_ten_seconds_and_goes_with_its_node() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            leases = "leases.coordination.k8s.io"
            await cluster.after(35)

            lease = cluster.api.get(leases, "n1", "kube-node-lease")
            assert cluster.clock.now() - read_stamp(lease["spec"]["renewTime"]) <= timedelta(
                seconds=10
            )
            cluster.api.delete("nodes", "n1")
            await cluster.after(60)

            assert cluster.api.find(leases, "n1", "kube-node-lease") is None
            assert cluster.api.find("csinodes.storage.k8s.io", "n1") is None

    run_virtual(scenario())


def test_a_running_pod_has_all_that_kubectl_shows() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            first = [{"name": "init", "image": "i"}]
            first += [{"name": "side", "image": "s", "restartPolicy": "Always"}]
            cluster.api.create("pods", a_pod("p", initContainers=first), "default")
            await cluster.until(cluster.running)

            status = cluster.api.get("pods", "p", "default")["status"]

            assert [c["ready"] for c in status["containerStatuses"]] == [True]
            states = {c["name"]: list(c["state"]) for c in status["initContainerStatuses"]}
            assert states == {"init": ["terminated"], "side": ["running"]}
            assert status["podIP"] != status["hostIP"]
            conditions = {c["type"]: c["status"] for c in status["conditions"]}
            assert set(conditions.values()) == {"True"}
            assert {"PodScheduled", "Initialized", "ContainersReady", "Ready"} <= set(conditions)

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("spec", "seconds"),
    [
        pytest.param({"restartPolicy": "Never"}, None, id="without an annotation for ever"),
        pytest.param({"restartPolicy": "Never", "run": "7"}, 7, id="as long as it says"),
        pytest.param({"restartPolicy": "OnFailure", "run": "0.5"}, 0.5, id="fractions count"),
        pytest.param({"restartPolicy": "Always", "run": "7"}, None, id="what restarts goes on"),
        pytest.param({"restartPolicy": "Never", "run": "soon"}, None, id="what is no number"),
        pytest.param({"restartPolicy": "Never", "run": "-1"}, None, id="what is negative"),
        pytest.param({"restartPolicy": "Never", "run": "nan"}, None, id="what is not finite"),
    ],
)
def test_a_pod_ends_when_its_time_is_over(spec: dict[str, Any], seconds: float | None) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            if run := spec.pop("run", None):
                spec["annotations"] = {"simulator.joiner.io/run-seconds": run}
            cluster.api.create("pods", a_pod("p", **spec), "default")
            await cluster.until(cluster.running)
            started = cluster.clock.monotonic()
            await cluster.after(0.2)
            assert len(cluster.running()) == 1

            if seconds is None:
                await cluster.after(1000)
                assert len(cluster.running()) == 1
            else:
                await cluster.until(lambda: cluster.status("pods", "p")["phase"] == "Succeeded")
                assert abs(cluster.clock.monotonic() - started - seconds) < 0.2
                state = cluster.status("pods", "p")["containerStatuses"][0]["state"]
                assert state["terminated"]["exitCode"] == 0

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("grace", "seconds"),
    [
        pytest.param(30, 2, id="it stops in time"),
        pytest.param(1, 1, id="its grace period is shorter"),
        pytest.param(0, 0, id="it has none"),
    ],
)
def test_a_deleted_pod_is_gone_when_it_has_stopped(grace: int, seconds: float) -> None:
    async def scenario() -> None:
        async with living(KubeletPolicy(stop=timedelta(seconds=2))) as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("pods", a_pod("p", terminationGracePeriodSeconds=grace), "default")
            await cluster.until(cluster.running)
            started = cluster.clock.monotonic()

            cluster.api.delete("pods", "p", "default")
            await cluster.until(lambda: not cluster.pods())

            assert abs(cluster.clock.monotonic() - started - seconds) < 0.1

    run_virtual(scenario())


def test_a_stopped_pod_that_a_finalizer_holds_says_that_it_failed() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            pod = a_pod("p")
            pod["metadata"]["finalizers"] = ["example.com/hold"]
            cluster.api.create("pods", pod, "default")
            await cluster.until(cluster.running)

            cluster.api.delete("pods", "p", "default")
            await cluster.after(60)
            assert cluster.status("pods", "p")["phase"] == "Failed"
            cluster.api.patch("pods", "p", {"metadata": {"finalizers": None}}, "default")
            await cluster.after(1)

            assert not cluster.pods()

    run_virtual(scenario())


def test_a_pod_is_ready_when_its_gates_are() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            gates = [{"conditionType": "example.com/open"}]
            cluster.api.create("pods", a_pod("p", readinessGates=gates), "default")
            await cluster.until(cluster.running)
            ready = condition_of(cluster.api.get("pods", "p", "default"), "Ready")
            assert ready is not None
            assert (ready["status"], ready["reason"]) == ("False", "ReadinessGatesNotReady")

            status = dict(cluster.status("pods", "p"))
            opened = {"type": "example.com/open", "status": "True"}
            status["conditions"] = [*status["conditions"], opened]
            cluster.api.patch("pods", "p", {"status": status}, "default", subresource="status")
            await cluster.after(0.1)

            assert is_true(cluster.api.get("pods", "p", "default"), "Ready")

    run_virtual(scenario())


def test_pods_of_a_node_that_is_gone_are_deleted() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("pods", a_pod("p"), "default")
            await cluster.until(cluster.running)

            cluster.api.delete("nodes", "n1")
            await cluster.after(39)
            assert len(cluster.pods()) == 1
            await cluster.after(2)

            assert not cluster.pods()

    run_virtual(scenario())


def test_a_pod_may_come_a_while_before_its_node() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("pods", a_pod("kept", nodeName="late"), "default")
            cluster.api.create("pods", a_pod("lost", nodeName="never"), "default")
            await cluster.after(30)
            cluster.api.create("nodes", a_node("late"))
            await cluster.after(30)

            assert [pod["metadata"]["name"] for pod in cluster.running()] == ["kept"]
            assert len(cluster.pods()) == 1

    run_virtual(scenario())
