"""status, scale, binding, resize, log: parts of objects with rules of their own."""

import pytest

from tests.conformance.cluster import STRATEGIC_PATCH, Cluster
from tests.conformance.objects import a_container, a_pod, a_workload, metadata

CORE = "/api/v1/namespaces/{}/"


@pytest.fixture
def pods(namespace: str) -> str:
    return CORE.format(namespace) + "pods"


@pytest.fixture
def deployments(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"


def test_an_update_leaves_the_status_alone(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod()).ok()

    def alter(pod: dict[str, object]) -> None:
        pod["status"] = {"phase": "Running"}
        pod["metadata"]["labels"] = {"app": "b"}  # type: ignore[index]  # it is JSON

    changed = cluster.change(f"{pods}/p", alter)

    assert (changed["status"]["phase"], changed["metadata"]["labels"]) == ("Pending", {"app": "b"})


def test_a_status_update_leaves_the_rest_alone(cluster: Cluster, pods: str) -> None:
    made = cluster.post(pods, a_pod()).ok()
    body = {**made, "status": {"phase": "Running"}, "spec": {**made["spec"], "nodeName": "n"}}
    body["metadata"] = {"name": "p", "labels": {"app": "b"}}

    changed = cluster.put(f"{pods}/p/status", body).ok()

    assert changed["status"]["phase"] == "Running"
    assert "nodeName" not in changed["spec"]
    assert changed["metadata"]["generation"] == 1


def test_conditions_are_merged_by_type(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod()).ok()
    for kind, status in (("Ready", "False"), ("example.com/Mine", "True"), ("Ready", "True")):
        condition = {"type": kind, "status": status}
        patch = {"status": {"conditions": [condition]}}
        cluster.patch(f"{pods}/p/status", patch, STRATEGIC_PATCH).ok()

    conditions = cluster.get(f"{pods}/p").ok()["status"]["conditions"]

    found = {condition["type"]: condition["status"] for condition in conditions}
    assert found == {"Ready": "True", "example.com/Mine": "True"}


def test_the_scale_of_a_deployment_is_read_and_written(cluster: Cluster, deployments: str) -> None:
    cluster.post(deployments, a_workload("Deployment", replicas=0)).ok()

    scale = cluster.get(f"{deployments}/w/scale").ok()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["status"]["selector"] == "app=a"

    changed = cluster.patch(f"{deployments}/w/scale", {"spec": {"replicas": 2}}).ok()
    assert changed["spec"]["replicas"] == 2
    assert cluster.get(f"{deployments}/w").ok()["spec"]["replicas"] == 2


def test_a_negative_scale_is_refused(cluster: Cluster, deployments: str) -> None:
    cluster.post(deployments, a_workload("Deployment", replicas=0)).ok()

    answer = cluster.patch(f"{deployments}/w/scale", {"spec": {"replicas": -1}})

    assert (answer.status, answer.causes) == (422, [("FieldValueInvalid", "spec.replicas")])


def binding(node: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": metadata("p"),
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }


def test_a_pod_is_bound_once(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod(terminationGracePeriodSeconds=0)).ok()

    first = cluster.post(f"{pods}/p/binding", binding("conformance-no-such-node"))
    assert (first.status, first.body["status"]) == (201, "Success")
    bound = cluster.get(f"{pods}/p").ok()
    assert bound["spec"]["nodeName"] == "conformance-no-such-node"
    (condition,) = (one for one in bound["status"]["conditions"] if one["type"] == "PodScheduled")
    assert condition["status"] == "True"

    second = cluster.post(f"{pods}/p/binding", binding("other"))
    assert (second.status, second.body["reason"]) == (409, "Conflict")
    cluster.delete(f"{pods}/p", gracePeriodSeconds=0)


def test_a_gated_pod_is_not_bound(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod(schedulingGates=[{"name": "example.com/gate"}])).ok()

    answer = cluster.post(f"{pods}/p/binding", binding("n"))

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert "has non-empty .spec.schedulingGates" in answer.message


def test_a_gate_may_go_but_not_come(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod(schedulingGates=[{"name": "example.com/gate"}])).ok()

    assert cluster.patch(f"{pods}/p", {"spec": {"schedulingGates": None}}).status == 200
    refused = cluster.patch(f"{pods}/p", {"spec": {"schedulingGates": [{"name": "a.b/c"}]}})
    assert refused.status == 422


def test_resources_are_changed_by_resize_only(cluster: Cluster, pods: str) -> None:
    def resources(cpu: str) -> dict[str, object]:
        return {"requests": {"cpu": cpu, "memory": "1Mi"}, "limits": {"cpu": "2", "memory": "1Mi"}}

    cluster.post(pods, a_pod(containers=[a_container(resources=resources("1"))])).ok()
    patch = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]}}

    assert cluster.patch(f"{pods}/p", patch, STRATEGIC_PATCH).status == 422
    resized = cluster.patch(f"{pods}/p/resize", patch, STRATEGIC_PATCH).ok()
    assert resized["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1500m"
    assert resized["metadata"]["generation"] == 2


def test_a_subresource_that_is_not_there_is_not_found(cluster: Cluster, pods: str) -> None:
    cluster.post(pods, a_pod()).ok()

    assert cluster.get(f"{pods}/p/none").status == 404
    assert cluster.get(f"{pods}/none/status").status == 404
