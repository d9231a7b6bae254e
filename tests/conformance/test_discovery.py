"""What a server says of itself: groups, resources, schemas, health, version."""

import json

import pytest

from tests.conformance.cluster import Cluster


def test_the_core_group_lists_its_resources(cluster: Cluster) -> None:
    found = cluster.get("/api/v1").ok()
    pods = next(one for one in found["resources"] if one["name"] == "pods")

    assert (found["kind"], found["groupVersion"]) == ("APIResourceList", "v1")
    assert pods["namespaced"]
    assert pods["shortNames"] == ["po"]
    assert set(pods["verbs"]) == {
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    }


@pytest.mark.parametrize(
    "name",
    ["pods/status", "pods/binding", "pods/eviction", "pods/log", "pods/resize", "nodes/status"],
)
def test_subresources_are_listed(cluster: Cluster, name: str) -> None:
    assert name in {one["name"] for one in cluster.get("/api/v1").ok()["resources"]}


@pytest.mark.parametrize(
    ("group", "version"),
    [
        ("apps", "v1"),
        ("batch", "v1"),
        ("policy", "v1"),
        ("autoscaling", "v2"),
        ("storage.k8s.io", "v1"),
        ("coordination.k8s.io", "v1"),
        ("scheduling.k8s.io", "v1"),
        ("node.k8s.io", "v1"),
        ("rbac.authorization.k8s.io", "v1"),
        ("resource.k8s.io", "v1"),
        ("discovery.k8s.io", "v1"),
        ("events.k8s.io", "v1"),
        ("apiextensions.k8s.io", "v1"),
        ("authorization.k8s.io", "v1"),
    ],
)
def test_groups_are_listed_with_their_preferred_version(
    cluster: Cluster, group: str, version: str
) -> None:
    groups = {one["name"]: one for one in cluster.get("/apis").ok()["groups"]}

    assert groups[group]["preferredVersion"]["version"] == version
    assert cluster.get(f"/apis/{group}").ok()["kind"] == "APIGroup"
    assert cluster.get(f"/apis/{group}/{version}").ok()["groupVersion"] == f"{group}/{version}"


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_discovery_is_aggregated_for_those_who_ask(cluster: Cluster, path: str) -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    answer = cluster.send("GET", path, headers={"Accept": f"{accept},application/json"})

    assert answer.ok()["kind"] == "APIGroupDiscoveryList"
    assert answer.headers["content-type"] == accept
    assert answer.body["items"][0]["versions"][0]["resources"]


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health_is_ok(cluster: Cluster, path: str) -> None:
    answer = cluster.get(path)

    assert (answer.status, answer.body) == (200, "ok")


def test_the_version_is_told(cluster: Cluster) -> None:
    version = cluster.get("/version").ok()

    assert version["major"] == "1"
    assert int(version["minor"].rstrip("+")) >= 34


@pytest.mark.parametrize(
    "path", ["/nothing", "/apis/none.example.com/v1", "/apis/none.example.com/v1/things"]
)
def test_an_unknown_path_is_a_404_in_plain_text(cluster: Cluster, path: str) -> None:
    answer = cluster.get(path)

    assert answer.status == 404
    assert answer.body == "404 page not found\n"


def test_an_unknown_resource_of_a_known_group_is_a_status(cluster: Cluster) -> None:
    answer = cluster.get("/api/v1/nothing")

    assert (answer.status, answer.body["reason"]) == (404, "NotFound")
    assert answer.message == "the server could not find the requested resource"


def test_schemas_are_served_by_group(cluster: Cluster) -> None:
    found = cluster.get("/openapi/v3").ok()
    index = (json.loads(found) if isinstance(found, str) else found)["paths"]
    schema = cluster.get(index["apis/apps/v1"]["serverRelativeURL"].partition("?")[0]).ok()

    deployment = schema["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"]
    kind = deployment["x-kubernetes-group-version-kind"]
    assert kind == [{"group": "apps", "kind": "Deployment", "version": "v1"}]


def test_all_schemas_are_served_at_once(cluster: Cluster) -> None:
    schema = cluster.get("/openapi/v2").ok()

    assert schema["swagger"] == "2.0"
    assert "io.k8s.api.core.v1.Pod" in schema["definitions"]


def test_what_may_be_done_is_told(cluster: Cluster) -> None:
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    }
    answer = cluster.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)

    assert answer.status == 201
    assert answer.body["status"]["allowed"]
