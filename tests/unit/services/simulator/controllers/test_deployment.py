"""Deployments and ReplicaSets on a living cluster."""

from datetime import timedelta
from typing import Any

from libs.runtime.virtual import run_virtual
from tests.unit.services.simulator.living import a_node, a_template, a_workload, living

DEPLOYMENTS = "deployments.apps"
REPLICA_SETS = "replicasets.apps"


def test_pods_of_a_deployment_run_on_a_new_node() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create(DEPLOYMENTS, a_workload("web", replicas=3), "default")
            await cluster.after(1)
            assert [pod["status"]["phase"] for pod in cluster.pods()] == ["Pending"] * 3

            cluster.api.create("nodes", a_node())
            await cluster.until(lambda: len(cluster.running()) == 3)

            assert cluster.clock.monotonic() < 2.5  # a boot and a start after the node came
            status = cluster.status(DEPLOYMENTS, "web")
            counts = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")
            assert [status[count] for count in counts] == [3, 3, 3, 3]
            assert all(pod["spec"]["nodeName"] == "n1" for pod in cluster.pods())

    run_virtual(scenario())


def test_scaling_down_deletes_unbound_pods_first() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            template = a_template("web", cpu="3")
            cluster.api.create(DEPLOYMENTS, a_workload("web", template, replicas=3), "default")
            await cluster.until(cluster.running)

            cluster.api.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 1}}, "default")
            await cluster.until(lambda: len(cluster.pods()) == 1)

            assert len(cluster.running()) == 1

    run_virtual(scenario())


def test_the_cheapest_pod_to_delete_goes_first() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(REPLICA_SETS, a_workload("web", replicas=3), "default")
            await cluster.until(lambda: len(cluster.running()) == 3)
            cheap = cluster.pods()[1]["metadata"]["name"]
            cost = {"controller.kubernetes.io/pod-deletion-cost": "-5"}
            cluster.api.patch("pods", cheap, {"metadata": {"annotations": cost}}, "default")

            cluster.api.patch(REPLICA_SETS, "web", {"spec": {"replicas": 2}}, "default")
            await cluster.until(lambda: len(cluster.pods()) == 2)

            assert cheap not in {pod["metadata"]["name"] for pod in cluster.pods()}

    run_virtual(scenario())


def test_a_new_template_rolls_out_within_its_bounds() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node(capacity={"cpu": "16", "memory": "64Gi"}))
            rolling = {"maxSurge": 1, "maxUnavailable": 1}
            strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
            web = a_workload("web", replicas=4, strategy=strategy)
            cluster.api.create(DEPLOYMENTS, web, "default")
            await cluster.until(lambda: len(cluster.running()) == 4)
            template = a_template("web", container={"image": "app:2"})
            cluster.api.patch(DEPLOYMENTS, "web", {"spec": {"template": template}}, "default")

            seen: list[tuple[int, int]] = []

            def rolled_out() -> bool:
                living_pods = [
                    p for p in cluster.pods() if "deletionTimestamp" not in p["metadata"]
                ]
                ready = [p for p in living_pods if p["status"]["phase"] == "Running"]
                seen.append((len(living_pods), len(ready)))
                return (
                    cluster.status(DEPLOYMENTS, "web").get("updatedReplicas") == 4
                    and [p["spec"]["containers"][0]["image"] for p in cluster.running()]
                    == ["app:2"] * 4
                )

            await cluster.until(rolled_out)

            assert max(count for count, _ in seen) <= 5
            assert min(ready for _, ready in seen) >= 3
            sets = cluster.api.list(REPLICA_SETS, "default")
            assert sorted(one["spec"]["replicas"] for one in sets) == [0, 4]

    run_virtual(scenario())


def test_recreate_waits_for_the_last_old_pod() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            web = a_workload("web", replicas=2, strategy={"type": "Recreate"})
            cluster.api.create(DEPLOYMENTS, web, "default")
            await cluster.until(lambda: len(cluster.running()) == 2)
            old = {pod["metadata"]["uid"] for pod in cluster.pods()}
            template = a_template("web", container={"image": "app:2"})
            cluster.api.patch(DEPLOYMENTS, "web", {"spec": {"template": template}}, "default")

            mixed = False

            def renewed() -> bool:
                nonlocal mixed
                present = {pod["metadata"]["uid"] for pod in cluster.pods()}
                mixed = mixed or bool(present & old and present - old)
                return len(cluster.running()) == 2 and not present & old

            await cluster.until(renewed)

            assert not mixed

    run_virtual(scenario())


def test_going_back_to_an_old_template_reuses_its_replica_set() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(DEPLOYMENTS, a_workload("web", replicas=1), "default")
            await cluster.until(cluster.running)
            for image in ("app:2", "app:1"):
                template = a_template("web", container={"image": image})
                cluster.api.patch(DEPLOYMENTS, "web", {"spec": {"template": template}}, "default")
                await cluster.after(5)

            sets = cluster.api.list(REPLICA_SETS, "default")

            key = "deployment.kubernetes.io/revision"
            revisions = {
                one["spec"]["template"]["spec"]["containers"][0]["image"]: (
                    one["metadata"]["annotations"][key],
                    one["spec"]["replicas"],
                )
                for one in sets
            }
            assert revisions == {"app:1": ("3", 1), "app:2": ("2", 0)}

    run_virtual(scenario())


def test_a_rollout_that_does_not_move_is_called_late() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            web = a_workload("web", replicas=1, progressDeadlineSeconds=20)
            cluster.api.create(DEPLOYMENTS, web, "default")

            def reason() -> Any:
                conditions = cluster.status(DEPLOYMENTS, "web").get("conditions", [])
                return {c["type"]: c["reason"] for c in conditions}.get("Progressing")

            await cluster.after(10)
            assert reason() == "ReplicaSetUpdated"
            await cluster.after(15)
            assert reason() == "ProgressDeadlineExceeded"

    run_virtual(scenario())


def test_deleting_a_deployment_takes_its_pods_along() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(DEPLOYMENTS, a_workload("web", replicas=3), "default")
            await cluster.until(lambda: len(cluster.running()) == 3)

            cluster.api.delete(DEPLOYMENTS, "web", "default")
            await cluster.until(lambda: not cluster.pods())

            assert not cluster.api.list(REPLICA_SETS, "default")

    run_virtual(scenario())


def test_a_pod_counts_as_available_after_its_minimum_of_readiness() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            web = a_workload("web", replicas=1, minReadySeconds=30)
            cluster.api.create(DEPLOYMENTS, web, "default")
            await cluster.until(cluster.running)
            ready = cluster.clock.now()
            assert "availableReplicas" not in cluster.status(DEPLOYMENTS, "web")

            await cluster.until(lambda: "availableReplicas" in cluster.status(DEPLOYMENTS, "web"))

            waited = cluster.clock.now() - ready
            assert timedelta(seconds=29) <= waited <= timedelta(seconds=31)

    run_virtual(scenario())


def test_a_pod_that_the_api_refuses_is_told_of_and_made_when_it_is_allowed() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            template = a_template("web", priorityClassName="high")
            cluster.api.create(REPLICA_SETS, a_workload("web", template, replicas=1), "default")
            cluster.api.create(REPLICA_SETS, a_workload("other", replicas=1), "default")
            await cluster.after(5)
            assert cluster.owner_names() == {"other"}
            (event,) = cluster.api.list("events", "default", fields="reason=FailedCreate")
            assert "no PriorityClass with name high was found" in event["message"]

            high = {"metadata": {"name": "high"}, "value": 10}
            cluster.api.create("priorityclasses.scheduling.k8s.io", high)
            await cluster.after(60)

            assert cluster.owner_names() == {"other", "web"}

    run_virtual(scenario())
