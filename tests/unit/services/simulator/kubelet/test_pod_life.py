"""Pods in time: init containers, sidecars, probes, restarts, rejections, deadlines, resizes."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.objects import condition_of, is_true
from tests.unit.services.simulator.living import (
    Living,
    a_node,
    a_pod,
    a_template,
    a_workload,
    living,
)

AT_ONCE = KubeletPolicy(boot=timedelta(), start=timedelta(), stop=timedelta(milliseconds=200))
ROOT = "simulator.joiner.io"
Obj = dict[str, Any]


def notes(**texts: str) -> dict[str, str]:
    return {f"{ROOT}/{name.replace('_', '-')}": text for name, text in texts.items()}


def container(cluster: Living, name: str = "main") -> Obj:
    status = cluster.status("pods", "p")
    listed = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    found: Obj = next(one for one in listed if one["name"] == name)
    return found


def state(cluster: Living, name: str = "main") -> str:
    shown: str = next(iter(container(cluster, name)["state"]))
    return shown


def told(cluster: Living) -> set[str]:
    return {event["reason"] for event in cluster.api.list("events", "default")}


async def start(cluster: Living, **spec: Any) -> None:
    cluster.api.create("nodes", a_node())
    await cluster.after(0.1)
    cluster.api.create("pods", a_pod("p", nodeName="n1", **spec), "default")


def test_init_containers_run_one_after_the_other() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            first = [{"name": name, "image": "i"} for name in ("one", "two")]
            lasting = {f"{name}.{ROOT}/run-seconds": "5" for name in ("one", "two")}
            await start(cluster, initContainers=first, annotations=lasting)

            await cluster.after(3)
            assert [state(cluster, n) for n in ("one", "two", "main")] == [
                "running",
                "waiting",
                "waiting",
            ]
            status = cluster.status("pods", "p")
            assert status["phase"] == "Pending"
            initialized = condition_of({"status": status}, "Initialized") or {}
            assert initialized["message"] == "containers with incomplete status: [one two]"
            await cluster.after(5)
            assert [state(cluster, n) for n in ("one", "two")] == ["terminated", "running"]
            await cluster.after(5)

            assert cluster.status("pods", "p")["phase"] == "Running"
            assert is_true(cluster.pods()[0], "Initialized")

    run_virtual(scenario())


def test_the_containers_wait_for_the_startup_of_a_sidecar() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            probe = {"initialDelaySeconds": 20, "exec": {"command": ["true"]}}
            side = {"name": "side", "image": "s", "restartPolicy": "Always", "startupProbe": probe}
            await start(cluster, initContainers=[side])
            await cluster.after(15)
            assert (state(cluster, "side"), state(cluster)) == ("running", "waiting")
            await cluster.after(10)

            assert state(cluster) == "running"

    run_virtual(scenario())


def test_a_pod_has_ended_when_its_containers_have_whatever_its_sidecars_do() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            side = {"name": "side", "image": "s", "restartPolicy": "Always"}
            lasting = notes(run_seconds="5")
            await start(cluster, initContainers=[side], restartPolicy="Never", annotations=lasting)
            await cluster.after(6)

            assert cluster.status("pods", "p")["phase"] == "Succeeded"
            assert state(cluster, "side") == "terminated"

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("policy", "code", "phase", "restarts"),
    [
        pytest.param("Never", "0", "Succeeded", 0, id="well, never again"),
        pytest.param("Never", "3", "Failed", 0, id="badly, never again"),
        pytest.param("OnFailure", "0", "Succeeded", 0, id="well, no failure"),
        pytest.param("OnFailure", "3,0", "Succeeded", 1, id="badly, then well"),
        pytest.param("Always", "0", "Running", 2, id="well, but always again"),
    ],
)
def test_the_restart_policy_decides_what_follows_an_end(
    policy: str, code: str, phase: str, restarts: int
) -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            lasting = notes(run_seconds="5", exit_code=code)
            await start(cluster, restartPolicy=policy, annotations=lasting)
            await cluster.after(23)

            assert cluster.status("pods", "p")["phase"] == phase
            assert container(cluster)["restartCount"] == restarts

    run_virtual(scenario())


def test_a_container_that_crashes_waits_longer_and_longer() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            crashing = notes(run_seconds="1", exit_code="1", exit_reason="OOMKilled")
            await start(cluster, annotations=crashing)
            seen: list[float] = []
            for _ in range(8000):
                count = (
                    container(cluster)["restartCount"]
                    if cluster.pods()[0]["status"].get("containerStatuses")
                    else 0
                )
                if count > len(seen):
                    seen.append(cluster.clock.monotonic())
                await cluster.after(0.25)

            waits = [round(b - a - 1) for a, b in pairwise(seen)]
            assert waits[:7] == [10, 20, 40, 80, 160, 300, 300]
            shown = container(cluster)
            assert shown["lastState"]["terminated"]["reason"] == "OOMKilled"
            if waiting := shown["state"].get("waiting"):
                assert waiting["reason"] == "CrashLoopBackOff"
                assert waiting["message"].startswith("back-off 5m0s restarting failed")
            assert "BackOff" in told(cluster)

    run_virtual(scenario())


def test_readiness_follows_the_probe_and_the_script() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            probe = {"initialDelaySeconds": 10, "exec": {"command": ["true"]}}
            script = notes(unready_seconds="60-120")
            await start(cluster, container={"readinessProbe": probe}, annotations=script)
            seen = []
            for wait in (5, 10, 60, 60):
                await cluster.after(wait)
                seen.append(is_true(cluster.pods()[0], "Ready"))

            assert seen == [False, True, False, True]
            assert "Unhealthy" in told(cluster)

    run_virtual(scenario())


def test_a_container_that_fails_its_liveness_probe_is_restarted() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            probe = {"periodSeconds": 5, "failureThreshold": 2, "exec": {"command": ["true"]}}
            script = notes(live_seconds="28")
            await start(cluster, container={"livenessProbe": probe}, annotations=script)
            await cluster.after(34)
            assert container(cluster)["restartCount"] == 0
            await cluster.after(2)

            assert container(cluster)["restartCount"] == 1
            assert container(cluster)["lastState"]["terminated"]["exitCode"] == 137
            assert {"Unhealthy", "Killing"} <= told(cluster)

    run_virtual(scenario())


def test_a_container_that_never_starts_up_is_restarted() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            probe = {"periodSeconds": 5, "failureThreshold": 3, "exec": {"command": ["true"]}}
            script = notes(start_seconds="never")
            await start(cluster, container={"startupProbe": probe}, annotations=script)
            await cluster.after(9)
            assert container(cluster)["started"] is False
            await cluster.after(2)

            assert container(cluster)["restartCount"] == 1

    run_virtual(scenario())


def test_a_pod_ends_at_its_deadline() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster, activeDeadlineSeconds=30)
            await cluster.after(29)
            assert cluster.status("pods", "p")["phase"] == "Running"
            await cluster.after(2)

            status = cluster.status("pods", "p")
            assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        pytest.param(
            {"cpu": "5"},
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000",
            id="no room",
        ),
        pytest.param(
            {"nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
            id="another node is meant",
        ),
        pytest.param(
            {"os": {"name": "windows"}},
            "PodOSNotSupported",
            "Failed to admit pod as the OS field doesn't match node OS",
            id="another system",
        ),
    ],
)
def test_a_kubelet_rejects_what_does_not_belong_on_its_node(
    spec: dict[str, Any], reason: str, message: str
) -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster, **spec)
            await cluster.after(1)

            status = cluster.status("pods", "p")
            assert (status["phase"], status["reason"]) == ("Failed", reason)
            assert status["message"] == f"Pod was rejected: {message}"
            assert reason in told(cluster)

    run_virtual(scenario())


def test_a_pod_that_stops_slowly_has_its_grace_and_no_more() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster, annotations=notes(stop_seconds="20"))
            await cluster.after(1)
            cluster.api.delete("pods", "p", "default")
            await cluster.after(19)
            assert cluster.pods()
            await cluster.after(2)

            assert not cluster.pods()

    run_virtual(scenario())


def resize(cluster: Living, cpu: str, name: str = "p") -> None:
    pod = cluster.api.get("pods", name, "default")
    containers = [dict(one) for one in pod["spec"]["containers"]]
    containers[0]["resources"] = {"requests": {"cpu": cpu, "memory": "64Mi"}}
    changed = {**pod, "spec": {**pod["spec"], "containers": containers}}
    cluster.api.update("pods", changed, subresource="resize")


def test_a_resize_is_given_then_in_force() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster)
            await cluster.after(1)

            resize(cluster, "2")
            await cluster.after(0.5)
            assert is_true(cluster.pods()[0], "PodResizeInProgress")
            assert container(cluster)["allocatedResources"]["cpu"] == "2"
            assert container(cluster)["resources"]["requests"]["cpu"] == "500m"
            await cluster.after(1)

            assert container(cluster)["resources"]["requests"]["cpu"] == "2"
            assert condition_of(cluster.pods()[0], "PodResizeInProgress") is None
            assert container(cluster)["restartCount"] == 0
            assert {"ResizeStarted", "ResizeCompleted"} <= told(cluster)

    run_virtual(scenario())


def test_a_resize_that_finds_no_room_waits_until_there_is() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster)
            cluster.api.create("pods", a_pod("other", nodeName="n1", cpu="3"), "default")
            await cluster.after(1)

            resize(cluster, "2")
            await cluster.after(1)
            pending = (
                condition_of(cluster.api.get("pods", "p", "default"), "PodResizePending") or {}
            )
            assert pending["reason"] == "Deferred"
            assert pending["message"] == (
                "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
            )
            cluster.api.delete("pods", "other", "default")
            await cluster.after(3)

            pod = cluster.api.get("pods", "p", "default")
            assert condition_of(pod, "PodResizePending") is None
            assert container(cluster)["resources"]["requests"]["cpu"] == "2"

    run_virtual(scenario())


def test_a_resize_may_be_infeasible() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            await start(cluster, annotations=notes(resize="infeasible"))
            await cluster.after(1)
            resize(cluster, "2")
            await cluster.after(5)

            pending = condition_of(cluster.pods()[0], "PodResizePending") or {}
            assert pending["reason"] == "Infeasible"
            assert container(cluster)["allocatedResources"]["cpu"] == "500m"

    run_virtual(scenario())


def test_a_container_that_wants_it_is_restarted_for_a_resize() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
            await start(cluster, container={"resizePolicy": policy})
            await cluster.after(1)
            resize(cluster, "2")
            await cluster.after(3)

            assert container(cluster)["restartCount"] == 1
            assert container(cluster)["resources"]["requests"]["cpu"] == "2"

    run_virtual(scenario())


def test_a_pod_that_comes_with_its_status_is_left_as_it_is() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            cluster.api.create("nodes", a_node())
            await cluster.after(1)
            cluster.api.create("pods", a_pod("p", nodeName="n1"), "default")
            await cluster.after(1)
            pod = cluster.pods()[0]
            (entry,) = pod["status"]["containerStatuses"]
            foreign = {**entry, "containerID": "containerd://abc", "imageID": "app@sha256:1"}
            status = {**pod["status"], "containerStatuses": [foreign]}
            cluster.api.update("pods", {**pod, "status": status}, subresource="status")
            before = cluster.pods()[0]["metadata"]["resourceVersion"]

            await cluster.after(60)

            assert cluster.pods()[0]["metadata"]["resourceVersion"] == before
            assert container(cluster)["containerID"] == "containerd://abc"

    run_virtual(scenario())


def test_time_goes_on_where_rejected_pods_are_made_anew() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            cluster.api.create("nodes", a_node())
            template = a_template("w", cpu="9", nodeName="n1")
            workload = a_workload("w", template, replicas=1)
            cluster.api.create("replicasets.apps", workload, "default")

            await cluster.after(3)

            assert 10 < len(cluster.pods()) < 40

    run_virtual(scenario())


def test_numbers_beyond_all_time_do_no_harm() -> None:
    async def scenario() -> None:
        async with living(AT_ONCE) as cluster:
            most = 2**31 - 1
            probe = {
                "initialDelaySeconds": most,
                "periodSeconds": most,
                "failureThreshold": most,
                "exec": {"command": ["true"]},
            }
            odd = notes(run_seconds="1e18", live_seconds="1e300", stop_seconds="1e12")
            await start(
                cluster,
                container={"livenessProbe": probe, "startupProbe": probe},
                annotations=odd,
                activeDeadlineSeconds=most,
                terminationGracePeriodSeconds=2**62,
                tolerations=[
                    {
                        "key": "a",
                        "operator": "Exists",
                        "effect": "NoExecute",
                        "tolerationSeconds": 2**62,
                    }
                ],
            )
            job = {
                "metadata": {"name": "j"},
                "spec": {
                    "activeDeadlineSeconds": 2**62,
                    "ttlSecondsAfterFinished": most,
                    "template": a_template("j", restartPolicy="Never"),
                },
            }
            cluster.api.create("jobs.batch", job, "default")
            taint = {"key": "a", "effect": "NoExecute"}
            cluster.api.patch("nodes", "n1", {"spec": {"taints": [taint]}})
            await cluster.after(60)
            cluster.api.delete("pods", "p", "default")
            await cluster.after(60)

            assert state(cluster) == "running"

    run_virtual(scenario())
