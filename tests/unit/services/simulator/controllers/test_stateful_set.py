"""StatefulSets with volumes on a living cluster."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from tests.unit.services.simulator.living import Living, a_node, a_template, a_workload, living

STATEFUL_SETS = "statefulsets.apps"
CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"


def a_class(cluster: Living, mode: str = "WaitForFirstConsumer", **members: Any) -> None:
    storage_class = {
        "metadata": {"name": "fast"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": mode,
        **members,
    }
    cluster.api.create("storageclasses.storage.k8s.io", storage_class)


def a_database(replicas: int = 2, **spec: Any) -> dict[str, Any]:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    return a_workload(
        "db", replicas=replicas, serviceName="db", volumeClaimTemplates=[claim], **spec
    )


def zone_of(volume: dict[str, Any]) -> list[str]:
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    return list(expression["values"])


def test_pods_start_in_order_and_their_volumes_land_in_their_zones() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            small = {"cpu": "600m", "memory": "4Gi", "pods": "10"}
            for zone in ("zone-a", "zone-b"):
                cluster.api.create("nodes", a_node(f"n-{zone}", zone, capacity=small))
            cluster.api.create(STATEFUL_SETS, a_database(), "default")
            seen: list[int] = []

            def runs() -> bool:
                seen.append(len(cluster.pods()))
                return len(cluster.running()) == 2

            await cluster.until(runs)

            assert [pod["metadata"]["name"] for pod in cluster.pods()] == ["db-0", "db-1"]
            assert 1 in seen  # the second came only when the first was ready
            claims = {c["metadata"]["name"]: c for c in cluster.api.list(CLAIMS, "default")}
            assert {claim["status"]["phase"] for claim in claims.values()} == {"Bound"}
            for pod in cluster.pods():
                claim = claims[f"data-{pod['metadata']['name']}"]
                volume = cluster.api.get(VOLUMES, claim["spec"]["volumeName"])
                assert zone_of(volume) == [pod["spec"]["nodeName"].removeprefix("n-")]
                assert volume["status"]["phase"] == "Bound"
            status = cluster.status(STATEFUL_SETS, "db")
            assert (status["readyReplicas"], status["currentReplicas"]) == (2, 2)

    run_virtual(scenario())


def test_a_pod_follows_its_volume_back_to_its_zone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            cluster.api.create("nodes", a_node("n-a", "zone-a"))
            cluster.api.create(STATEFUL_SETS, a_database(1), "default")
            await cluster.until(cluster.running)
            cluster.api.create("nodes", a_node("n-b", "zone-b"))
            cluster.api.patch("nodes", "n-a", {"spec": {"unschedulable": True}})
            cluster.api.delete("pods", "db-0", "default")
            await cluster.after(5)

            (pod,) = cluster.pods()

            assert pod["status"]["phase"] == "Pending"
            (condition,) = pod["status"]["conditions"]
            assert "didn't match PersistentVolume's node affinity" in condition["message"]
            assert "were unschedulable" in condition["message"]

    run_virtual(scenario())


def test_parallel_pods_start_together() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            database = a_database(3, podManagementPolicy="Parallel")
            cluster.api.create(STATEFUL_SETS, database, "default")
            await cluster.after(0.1)

            assert len(cluster.pods()) == 3

    run_virtual(scenario())


def test_scaling_down_removes_the_highest_ordinal_and_keeps_its_claim() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            cluster.api.create("nodes", a_node())
            cluster.api.create(STATEFUL_SETS, a_database(3), "default")
            await cluster.until(lambda: len(cluster.running()) == 3)

            cluster.api.patch(STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, "default")
            await cluster.until(lambda: len(cluster.pods()) == 1)

            assert [pod["metadata"]["name"] for pod in cluster.pods()] == ["db-0"]
            assert len(cluster.api.list(CLAIMS, "default")) == 3

    run_virtual(scenario())


def test_a_new_template_is_rolled_out_from_the_highest_ordinal_to_the_partition() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            cluster.api.create("nodes", a_node())
            update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
            database = a_database(3, updateStrategy=update)
            cluster.api.create(STATEFUL_SETS, database, "default")
            await cluster.until(lambda: len(cluster.running()) == 3)
            template = a_template("db", container={"image": "app:2"})
            cluster.api.patch(STATEFUL_SETS, "db", {"spec": {"template": template}}, "default")
            await cluster.after(10)

            images = [pod["spec"]["containers"][0]["image"] for pod in cluster.running()]

            assert images == ["app:1", "app:2", "app:2"]

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("allowed", "zones"),
    [
        pytest.param([], ["zone-b"], id="anywhere there is a node"),
        pytest.param(["zone-c", "zone-d"], ["zone-c"], id="the first that the class allows"),
    ],
)
def test_an_immediate_volume_is_made_before_any_pod(allowed: list[str], zones: list[str]) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            key = "topology.kubernetes.io/zone"
            term = {"matchLabelExpressions": [{"key": key, "values": allowed}]}
            a_class(cluster, "Immediate", **({"allowedTopologies": [term]} if allowed else {}))
            cluster.api.create("nodes", a_node("n1", "zone-b"))
            claim = a_database()["spec"]["volumeClaimTemplates"][0]
            cluster.api.create(CLAIMS, claim, "default")
            await cluster.after(0.1)

            (volume,) = cluster.api.list(VOLUMES)

            assert zone_of(volume) == zones
            assert cluster.status(CLAIMS, "data")["phase"] == "Bound"

    run_virtual(scenario())


def test_a_deleted_claim_takes_its_volume_along_or_releases_it() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster, "Immediate")
            claim = a_database()["spec"]["volumeClaimTemplates"][0]
            for name, policy in (("goes", "Delete"), ("stays", "Retain")):
                named = {**claim, "metadata": {"name": name}}
                cluster.api.create(CLAIMS, named, "default")
                await cluster.after(0.1)
                volume = cluster.api.get(CLAIMS, name, "default")["spec"]["volumeName"]
                change = {"spec": {"persistentVolumeReclaimPolicy": policy}}
                cluster.api.patch(VOLUMES, volume, change)
                cluster.api.delete(CLAIMS, name, "default")
            await cluster.after(0.1)

            (left,) = cluster.api.list(VOLUMES)

            assert left["status"]["phase"] == "Released"
            assert left["spec"]["claimRef"]["name"] == "stays"

    run_virtual(scenario())


def test_an_existing_volume_serves_before_a_new_one_is_made() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            cluster.api.create("nodes", a_node())
            volume = {
                "metadata": {"name": "old"},
                "spec": {
                    "capacity": {"storage": "2Gi"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "fast",
                    "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "old"},
                },
            }
            cluster.api.create(VOLUMES, volume)
            cluster.api.create(STATEFUL_SETS, a_database(1), "default")
            await cluster.until(cluster.running)

            assert cluster.api.get(CLAIMS, "data-db-0", "default")["spec"]["volumeName"] == "old"
            assert len(cluster.api.list(VOLUMES)) == 1

    run_virtual(scenario())


def test_a_pod_gets_the_claim_that_it_brings_along() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            a_class(cluster)
            cluster.api.create("nodes", a_node())
            claim = a_database()["spec"]["volumeClaimTemplates"][0]
            ephemeral = {"volumeClaimTemplate": {"spec": claim["spec"]}}
            template = a_template("job", volumes=[{"name": "scratch", "ephemeral": ephemeral}])
            pod = {"metadata": {"name": "p", **template["metadata"]}, "spec": template["spec"]}
            cluster.api.create("pods", pod, "default")
            await cluster.until(cluster.running)
            assert cluster.status(CLAIMS, "p-scratch")["phase"] == "Bound"

            cluster.api.delete("pods", "p", "default")
            await cluster.after(1)

            assert not cluster.api.list(CLAIMS, "default")

    run_virtual(scenario())
