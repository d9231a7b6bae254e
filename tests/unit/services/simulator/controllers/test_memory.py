"""What controllers remember and take over: partitions, annotations, conditions, claims, events."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers import rollout
from services.simulator.core.controllers.rollout import Bounds, Replicas
from services.simulator.core.objects import condition_of
from tests.unit.services.simulator.living import (
    Living,
    a_node,
    a_pod,
    a_template,
    a_workload,
    living,
)

STATEFUL_SETS, DAEMON_SETS = "statefulsets.apps", "daemonsets.apps"
DEPLOYMENTS, REPLICA_SETS = "deployments.apps", "replicasets.apps"


def image(cluster: Living, resource: str, name: str, tag: str) -> None:
    (container,) = cluster.api.get(resource, name, "default")["spec"]["template"]["spec"][
        "containers"
    ]
    changed = {**container, "image": f"app:{tag}"}
    change = {"spec": {"template": {"spec": {"containers": [changed]}}}}
    cluster.api.patch(resource, name, change, "default")


def images(cluster: Living) -> dict[str, str]:
    return {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"] for pod in cluster.pods()
    }


def told(cluster: Living, kind: str) -> set[str]:
    events = cluster.api.list("events", "default")
    return {e["message"] for e in events if e["involvedObject"]["kind"] == kind}


def test_pods_below_the_partition_keep_the_old_template() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
            spec: dict[str, Any] = {"serviceName": "s", "replicas": 2, "updateStrategy": update}
            cluster.api.create(STATEFUL_SETS, a_workload("w", **spec), "default")
            await cluster.until(lambda: len(cluster.running()) == 2)
            image(cluster, STATEFUL_SETS, "w", "2")
            await cluster.after(20)
            assert images(cluster) == {"w-0": "app:1", "w-1": "app:2"}

            cluster.api.delete("pods", "w-0", "default")
            await cluster.after(20)

            assert images(cluster) == {"w-0": "app:1", "w-1": "app:2"}
            status = cluster.status(STATEFUL_SETS, "w")
            assert (status["currentReplicas"], status["updatedReplicas"]) == (1, 1)
            assert "Create Pod w-0 in StatefulSet w successful" in told(cluster, "StatefulSet")

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param({"whenScaled": "Delete"}, ["data-w-0"], id="they go"),
        pytest.param({"whenScaled": "Retain"}, ["data-w-0", "data-w-1"], id="they stay"),
    ],
)
def test_claims_follow_the_retention_policy(policy: dict[str, str], left: list[str]) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            claim = {
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                    "storageClassName": "",
                },
            }
            for number in range(2):
                volume = {
                    "metadata": {"name": f"v{number}"},
                    "spec": {
                        "capacity": {"storage": "1Gi"},
                        "accessModes": ["ReadWriteOnce"],
                        "hostPath": {"path": "/x"},
                    },
                }
                cluster.api.create("persistentvolumes", volume)
            spec: dict[str, Any] = {"serviceName": "s", "replicas": 2}
            spec |= {"volumeClaimTemplates": [claim]}
            spec |= {"persistentVolumeClaimRetentionPolicy": policy}
            cluster.api.create(STATEFUL_SETS, a_workload("w", **spec), "default")
            await cluster.until(lambda: len(cluster.running()) == 2)

            cluster.api.patch(STATEFUL_SETS, "w", {"spec": {"replicas": 1}}, "default")
            await cluster.after(20)

            found = cluster.api.list("persistentvolumeclaims", "default")
            assert [one["metadata"]["name"] for one in found] == left

    run_virtual(scenario())


def test_a_replica_set_remembers_the_size_of_its_deployment() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(DEPLOYMENTS, a_workload("w", replicas=4), "default")
            await cluster.until(lambda: len(cluster.running()) == 4)

            (one,) = cluster.api.list(REPLICA_SETS, "default")
            notes = one["metadata"]["annotations"]
            assert notes["deployment.kubernetes.io/desired-replicas"] == "4"
            assert notes["deployment.kubernetes.io/max-replicas"] == "5"
            assert one["metadata"]["generation"] == 1
            name = one["metadata"]["name"]
            assert told(cluster, "Deployment") == {f"Scaled up replica set {name} from 0 to 4"}

    run_virtual(scenario())


def test_a_replica_set_says_why_it_cannot_make_pods() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            template = a_template("w", priorityClassName="none")
            cluster.api.create(REPLICA_SETS, a_workload("w", template, replicas=1), "default")
            await cluster.after(1)
            failure = condition_of(cluster.api.get(REPLICA_SETS, "w", "default"), "ReplicaFailure")
            assert failure is not None
            assert failure["reason"] == "FailedCreate"
            assert "no PriorityClass with name none was found" in failure["message"]

            known = {"metadata": {"name": "none"}, "value": 1}
            cluster.api.create("priorityclasses.scheduling.k8s.io", known)
            await cluster.after(60)

            found = cluster.api.get(REPLICA_SETS, "w", "default")
            assert condition_of(found, "ReplicaFailure") is None
            assert len(cluster.pods()) == 1

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("replicas", "sizes", "goals"),
    [
        pytest.param(20, {"new": 5, "old": 8}, {"new": 10, "old": 15}, id="doubled"),
        pytest.param(5, {"new": 5, "old": 8}, {"new": 3, "old": 4}, id="halved"),
        pytest.param(0, {"new": 5, "old": 8}, {"new": 0, "old": 0}, id="to nothing"),
    ],
)
def test_growth_in_the_middle_of_a_rollout_is_shared(
    replicas: int, sizes: dict[str, int], goals: dict[str, int]
) -> None:
    bounds = Bounds(replicas=replicas, surge=-(-replicas // 4), unavailable=0)
    present = [Replicas(name=name, wanted=size, available=size) for name, size in sizes.items()]

    found = rollout.in_proportion(bounds, present, dict.fromkeys(sizes, 13))

    assert sum(found.values()) == (replicas + bounds.surge if replicas else 0)
    assert found == goals


def test_a_replication_controller_keeps_its_replicas_and_takes_over_what_fits() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            lone = a_pod("lone")
            lone["metadata"]["labels"] = {"app": "w"}
            cluster.api.create("pods", lone, "default")
            body = {
                "metadata": {"name": "w"},
                "spec": {"replicas": 2, "selector": {"app": "w"}, "template": a_template("w")},
            }
            cluster.api.create("replicationcontrollers", body, "default")
            await cluster.until(lambda: len(cluster.running("w")) == 2)
            await cluster.after(1)

            assert cluster.owner_names() == {"w"}
            status = cluster.status("replicationcontrollers", "w")
            assert (status["replicas"], status["readyReplicas"]) == (2, 2)
            assert any(one.startswith("Created pod: w-") for one in
                       told(cluster, "ReplicationController"))  # fmt: skip

    run_virtual(scenario())


@pytest.mark.parametrize("resource", [STATEFUL_SETS, DAEMON_SETS])
def test_the_other_owners_take_over_what_fits_too(resource: str) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            lone = a_pod("w-0", nodeName="n1")
            lone["metadata"]["labels"] = {"app": "w"}
            cluster.api.create("pods", lone, "default")
            await cluster.until(cluster.running)
            spec: dict[str, Any] = {"serviceName": "s"} if resource == STATEFUL_SETS else {}
            spec |= {"updateStrategy": {"type": "OnDelete"}}
            cluster.api.create(resource, a_workload("w", **spec), "default")
            await cluster.after(5)

            assert len(cluster.pods()) == 1
            assert cluster.owner_names() == {"w"}

    run_virtual(scenario())
