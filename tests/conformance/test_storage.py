"""What is made and kept for pods: claims, attachments, endpoints."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.nodes import NODES, a_ready_node
from tests.conformance.objects import Object, a_pod, metadata
from tests.conformance.targets import CONTROLLERS

pytestmark = pytest.mark.needs(CONTROLLERS)


@pytest.fixture
def core(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


def a_claim(storage_class: str, **spec: object) -> Object:
    return {
        "metadata": metadata("c"),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
            **spec,
        },
    }


def a_user(name: str, **spec: Any) -> Object:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    return a_pod(name, volumes=[volume], **spec)


def test_a_claim_in_use_waits_for_its_last_pod(cluster: Cluster, core: str) -> None:
    cluster.post(f"{core}/persistentvolumeclaims", a_claim("none")).ok()
    path = f"{core}/persistentvolumeclaims/c"
    cluster.until(
        path,
        lambda one: one["metadata"].get("finalizers") == ["kubernetes.io/pvc-protection"],
    )
    cluster.post(f"{core}/pods", a_user("p", nodeName="nowhere")).ok()

    cluster.delete(path).ok()
    assert "deletionTimestamp" in cluster.get(path).ok()["metadata"]
    cluster.delete(f"{core}/pods/p", gracePeriodSeconds=0).ok()

    cluster.until_gone(path)


def test_a_claim_that_nobody_uses_goes_at_once(cluster: Cluster, core: str) -> None:
    cluster.post(f"{core}/persistentvolumeclaims", a_claim("none")).ok()
    path = f"{core}/persistentvolumeclaims/c"
    cluster.until(path, lambda one: one["metadata"].get("finalizers"))

    cluster.delete(path).ok()

    cluster.until_gone(path)


def test_a_volume_is_attached_to_the_node_of_its_pod(
    cluster: Cluster,
    core: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    node, volume, storage_class = unique("node"), unique("volume"), unique("class")
    a_ready_node(cluster, create, node, {})
    managed = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    cluster.patch(f"{NODES}/{node}", {"metadata": {"annotations": managed}}).ok()
    driver = f"{unique('driver')}.example.com"
    create("/apis/storage.k8s.io/v1/csidrivers", {"metadata": metadata(driver), "spec": {}})
    create(
        "/apis/storage.k8s.io/v1/csinodes",
        {"metadata": metadata(node), "spec": {"drivers": [{"name": driver, "nodeID": node}]}},
    )
    body = {
        "metadata": metadata(volume),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "storageClassName": storage_class,
            "csi": {"driver": driver, "volumeHandle": "h"},
        },
    }
    create("/api/v1/persistentvolumes", body)
    cluster.post(f"{core}/persistentvolumeclaims", a_claim(storage_class)).ok()
    cluster.until(f"{core}/persistentvolumeclaims/c", lambda one: one["spec"].get("volumeName"))

    cluster.post(f"{core}/pods", a_user("p", nodeName=node)).ok()

    path = "/apis/storage.k8s.io/v1/volumeattachments"
    found = cluster.until(path, lambda one: of_node(one, node))
    (attachment,) = of_node(found, node)
    assert attachment["spec"] == {
        "attacher": driver,
        "nodeName": node,
        "source": {"persistentVolumeName": volume},
    }
    assert attachment["metadata"]["name"].startswith("csi-")
    assert len(attachment["metadata"]["name"]) == 68
    cluster.delete(f"{path}/{attachment['metadata']['name']}")


def of_node(found: Object, node: str) -> list[Object]:
    return [one for one in found["items"] if one["spec"]["nodeName"] == node]


def test_a_claim_is_made_from_a_template(cluster: Cluster, namespace: str, core: str) -> None:
    resource = f"/apis/resource.k8s.io/v1/namespaces/{namespace}"
    request = {"name": "r", "exactly": {"deviceClassName": "none.example.com"}}
    template = {
        "metadata": metadata("t"),
        "spec": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"devices": {"requests": [request]}},
        },
    }
    cluster.post(f"{resource}/resourceclaimtemplates", template).ok()
    asked = {"name": "gpu", "resourceClaimTemplateName": "t"}
    cluster.post(f"{core}/pods", a_pod("p", resourceClaims=[asked])).ok()

    pod = cluster.until(f"{core}/pods/p", lambda one: one["status"].get("resourceClaimStatuses"))

    (told,) = pod["status"]["resourceClaimStatuses"]
    claim = cluster.get(f"{resource}/resourceclaims/{told['resourceClaimName']}").ok()
    assert claim["metadata"]["generateName"] == "p-gpu-"
    assert claim["metadata"]["labels"] == {"a": "b"}
    assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/pod-claim-name": "gpu"}
    (owner,) = claim["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", "p", True)
    assert "blockOwnerDeletion" not in owner


def test_endpoints_are_the_pods_that_a_service_selects(
    cluster: Cluster,
    namespace: str,
    core: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    node = unique("node")
    a_ready_node(cluster, create, node, {"topology.kubernetes.io/zone": "z"})
    service = {
        "metadata": metadata("s", labels={"x": "y"}),
        "spec": {"selector": {"app": "a"}, "ports": [{"name": "http", "port": 80}]},
    }
    cluster.post(f"{core}/services", service).ok()
    for name, ready in (("one", "True"), ("two", "False")):
        cluster.post(f"{core}/pods", a_pod(name, labels={"app": "a"}, nodeName=node)).ok()
        condition = {"type": "Ready", "status": ready}
        address = {"one": "10.9.0.1", "two": "10.9.0.2"}[name]
        status = {
            "phase": "Running",
            "podIP": address,
            "podIPs": [{"ip": address}],
            "conditions": [condition],
        }
        cluster.patch(f"{core}/pods/{name}/status", {"status": status}).ok()

    slices = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    found = cluster.until(
        slices, lambda one: one["items"] and len(one["items"][0].get("endpoints") or ()) == 2
    )
    (only,) = found["items"]
    assert only["metadata"]["labels"] == {
        "x": "y",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        "kubernetes.io/service-name": "s",
    }
    assert only["addressType"] == "IPv4"
    assert only["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
    states = {one["addresses"][0]: one["conditions"] for one in only["endpoints"]}
    assert states == {
        "10.9.0.1": {"ready": True, "serving": True, "terminating": False},
        "10.9.0.2": {"ready": False, "serving": False, "terminating": False},
    }
    assert {(one["nodeName"], one["zone"]) for one in only["endpoints"]} == {(node, "z")}
    old = cluster.until(f"{core}/endpoints/s", lambda one: one.get("subsets"))
    (subset,) = old["subsets"]
    assert [one["ip"] for one in subset["addresses"]] == ["10.9.0.1"]
    assert [one["ip"] for one in subset["notReadyAddresses"]] == ["10.9.0.2"]
    assert subset["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
    assert old["metadata"]["labels"] == {
        "x": "y",
        "endpoints.kubernetes.io/managed-by": "endpoint-controller",
    }
