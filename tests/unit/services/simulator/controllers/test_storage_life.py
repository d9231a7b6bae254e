"""Attached volumes, protected claims, resource claims: what pods hold and let go."""

from datetime import timedelta
from typing import Any

from libs.runtime.virtual import run_virtual
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.kubelet.fate import FateBook, FateRule, NodeFate
from services.simulator.core.objects import is_deleting
from tests.unit.services.simulator.living import START, Living, a_node, a_pod, living

ATTACHMENTS = "volumeattachments.storage.k8s.io"
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
DEVICE_CLAIMS = "resourceclaims.resource.k8s.io"
Obj = dict[str, Any]


def a_claim() -> Obj:
    return {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def a_class() -> Obj:
    return {
        "metadata": {"name": "fast"},
        "provisioner": "csi.example.com",
        "volumeBindingMode": "Immediate",
    }


def a_user(name: str, **spec: Any) -> Obj:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return a_pod(name, volumes=[volume], **spec)


async def play(cluster: Living) -> None:
    for name in ("n1", "n2"):
        cluster.api.create("nodes", a_node(name))
    cluster.api.create("storageclasses.storage.k8s.io", a_class())
    cluster.api.create(CLAIMS, a_claim(), "default")
    cluster.api.create("pods", a_user("p", nodeName="n1"), "default")
    await cluster.until(cluster.running)
    await cluster.after(1)


def attached(cluster: Living) -> list[str]:
    return [one["spec"]["nodeName"] for one in cluster.api.list(ATTACHMENTS)]


def test_a_volume_is_attached_where_a_pod_uses_it_and_detached_after() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster)
            (one,) = cluster.api.list(ATTACHMENTS)
            assert one["status"] == {"attached": True}
            volume = cluster.api.get(CLAIMS, "data", "default")["spec"]["volumeName"]
            assert one["spec"]["source"] == {"persistentVolumeName": volume}
            (told,) = cluster.api.get("nodes", "n1")["status"]["volumesAttached"]
            assert told["name"] == f"kubernetes.io/csi/csi.example.com^{volume}"

            cluster.api.delete("pods", "p", "default")
            await cluster.after(5)

            assert attached(cluster) == []
            assert "volumesAttached" not in cluster.api.get("nodes", "n1")["status"]

    run_virtual(scenario())


def test_a_volume_stays_on_a_lost_node_for_six_minutes() -> None:
    async def scenario() -> None:
        dead = NodeFate(dead_since=START + timedelta(seconds=60))
        async with living(fates=FateBook((FateRule(name="n1", fate=dead),))) as cluster:
            await play(cluster)
            await cluster.after(120)  # the node is known to be lost
            gone = {"metadata": {"finalizers": None}}
            cluster.api.patch("pods", "p", gone, "default")
            await cluster.after(1)
            cluster.api.delete("pods", "p", "default", DeleteOptions(grace_seconds=0))
            await cluster.after(300)
            assert attached(cluster) == ["n1"]
            await cluster.after(90)

            assert attached(cluster) == []

    run_virtual(scenario())


def test_a_claim_in_use_is_deleted_once_it_is_not_and_its_volume_then() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster)
            volume = cluster.api.get(CLAIMS, "data", "default")["spec"]["volumeName"]

            cluster.api.delete(CLAIMS, "data", "default")
            await cluster.after(5)
            assert is_deleting(cluster.api.get(CLAIMS, "data", "default"))
            cluster.api.delete("pods", "p", "default")
            await cluster.after(5)

            assert cluster.api.find(CLAIMS, "data", "default") is None
            assert cluster.api.find(VOLUMES, volume) is None

    run_virtual(scenario())


def a_template() -> Obj:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    return {
        "metadata": {"name": "one-gpu"},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def a_slice() -> Obj:
    return {
        "metadata": {"name": "n1-gpus"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        },
    }


def test_a_claim_of_a_template_is_made_for_its_pod_and_freed_when_it_is_done() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            cluster.api.create(
                "deviceclasses.resource.k8s.io", {"metadata": {"name": "gpu"}, "spec": {}}
            )
            cluster.api.create("resourceslices.resource.k8s.io", a_slice())
            asked = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
            notes = {"simulator.joiner.io/run-seconds": "20"}
            pod = a_pod("p", resourceClaims=[asked], restartPolicy="Never", annotations=notes)
            cluster.api.create("pods", pod, "default")
            await cluster.after(2)
            assert not cluster.running()  # it waits for the template

            templates = "resourceclaimtemplates.resource.k8s.io"
            cluster.api.create(templates, a_template(), "default")
            await cluster.until(cluster.running)

            (claim,) = cluster.api.list(DEVICE_CLAIMS, "default")
            (told,) = cluster.status("pods", "p")["resourceClaimStatuses"]
            assert told == {"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}
            assert claim["metadata"]["ownerReferences"][0]["name"] == "p"
            (consumer,) = claim["status"]["reservedFor"]
            assert consumer["name"] == "p"
            await cluster.after(30)

            assert cluster.api.list(DEVICE_CLAIMS, "default") == ()

    run_virtual(scenario())


def test_a_shared_claim_is_freed_when_its_last_pod_has_gone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            cluster.api.create(
                "deviceclasses.resource.k8s.io", {"metadata": {"name": "gpu"}, "spec": {}}
            )
            cluster.api.create("resourceslices.resource.k8s.io", a_slice())
            claim = {"metadata": {"name": "shared"}, "spec": a_template()["spec"]["spec"]}
            cluster.api.create(DEVICE_CLAIMS, claim, "default")
            asked = {"name": "gpu", "resourceClaimName": "shared"}
            for name in ("a", "b"):
                cluster.api.create("pods", a_pod(name, resourceClaims=[asked]), "default")
            await cluster.until(lambda: len(cluster.running()) == 2)
            status = cluster.status(DEVICE_CLAIMS, "shared")
            assert {one["name"] for one in status["reservedFor"]} == {"a", "b"}

            cluster.api.delete("pods", "a", "default")
            await cluster.after(3)
            assert len(cluster.status(DEVICE_CLAIMS, "shared")["reservedFor"]) == 1
            cluster.api.delete("pods", "b", "default")
            await cluster.after(3)

            found = cluster.api.get(DEVICE_CLAIMS, "shared", "default").get("status") or {}
            assert "allocation" not in found

    run_virtual(scenario())
