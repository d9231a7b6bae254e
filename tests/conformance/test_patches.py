"""JSON patch, merge patch, strategic merge patch."""

from typing import Any

import pytest

from tests.conformance.cluster import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, Cluster
from tests.conformance.objects import Object, a_config_map, a_container, a_workload

JUST_A = {"a": "1"}


@pytest.fixture
def path(cluster: Cluster, namespace: str) -> str:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    cluster.post(maps, a_config_map("m", **JUST_A)).ok()
    return f"{maps}/m"


@pytest.mark.parametrize(
    ("patch", "data"),
    [
        pytest.param(
            [{"op": "add", "path": "/data/b", "value": "2"}], {"a": "1", "b": "2"}, id="add"
        ),
        pytest.param(
            [{"op": "replace", "path": "/data/a", "value": "2"}], {"a": "2"}, id="replace"
        ),
        pytest.param([{"op": "remove", "path": "/data/a"}], None, id="remove"),
        pytest.param(
            [{"op": "copy", "from": "/data/a", "path": "/data/b"}], {"a": "1", "b": "1"}, id="copy"
        ),
        pytest.param([{"op": "move", "from": "/data/a", "path": "/data/b"}], {"b": "1"}, id="move"),
        pytest.param(
            [
                {"op": "test", "path": "/data/a", "value": "1"},
                {"op": "add", "path": "/data/b-c", "value": "2"},
            ],
            {"a": "1", "b-c": "2"},
            id="test holds",
        ),
        pytest.param([], JUST_A, id="nothing"),
    ],
)
def test_a_json_patch_does_its_steps(
    cluster: Cluster, path: str, patch: list[Object], data: Object | None
) -> None:
    assert cluster.patch(path, patch, JSON_PATCH).ok().get("data") == data


@pytest.mark.parametrize(
    ("patch", "status", "reason"),
    [
        pytest.param(
            [{"op": "test", "path": "/data/a", "value": "2"}], 422, "Invalid", id="test fails"
        ),
        pytest.param([{"op": "remove", "path": "/data/none"}], 422, "Invalid", id="remove nothing"),
        pytest.param([{"op": "no", "path": "/data"}], 422, "Invalid", id="unknown operation"),
        pytest.param({"op": "remove"}, 400, "BadRequest", id="no list"),
        pytest.param("[", 400, "BadRequest", id="no JSON"),
        pytest.param(
            [{"op": "replace", "path": "/metadata/name", "value": "n"}],
            400,
            "BadRequest",
            id="name",
        ),
    ],
)
def test_a_json_patch_that_cannot_be_done_changes_nothing(
    cluster: Cluster, path: str, patch: Any, status: int, reason: str
) -> None:
    answer = cluster.patch(path, patch, JSON_PATCH)

    assert (answer.status, answer.body["reason"]) == (status, reason)
    assert cluster.get(path).ok()["data"] == JUST_A


def test_a_merge_patch_removes_with_null_and_replaces_lists(
    cluster: Cluster, namespace: str
) -> None:
    pods = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.post(pods, a_workload("Deployment", replicas=0)).ok()

    patch = {
        "metadata": {"labels": {"x": "y"}},
        "spec": {
            "paused": None,
            "template": {"spec": {"containers": [{"name": "d", "image": "i"}]}},
        },
    }
    changed = cluster.patch(f"{pods}/w", patch, MERGE_PATCH).ok()

    assert [one["name"] for one in changed["spec"]["template"]["spec"]["containers"]] == ["d"]
    assert changed["metadata"]["labels"] == {"x": "y"}


@pytest.mark.parametrize(
    ("containers", "names"),
    [
        pytest.param([{"name": "d", "image": "i"}], ["d", "c"], id="merged by name"),
        pytest.param(
            [{"name": "c", "$patch": "delete"}, {"name": "d", "image": "i"}], ["d"], id="deleted"
        ),
        pytest.param([{"$patch": "replace"}, {"name": "d", "image": "i"}], ["d"], id="replaced"),
    ],
)
def test_a_strategic_patch_merges_lists_by_their_key(
    cluster: Cluster, namespace: str, containers: list[Object], names: list[str]
) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.post(deployments, a_workload("Deployment", replicas=0)).ok()

    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    changed = cluster.patch(f"{deployments}/w", patch, STRATEGIC_PATCH).ok()

    assert [one["name"] for one in changed["spec"]["template"]["spec"]["containers"]] == names


def test_a_strategic_patch_changes_one_member_of_a_list(cluster: Cluster, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.post(deployments, a_workload("Deployment", replicas=0)).ok()

    patch = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "new:1"}]}}}}
    changed = cluster.patch(f"{deployments}/w", patch, STRATEGIC_PATCH).ok()

    (container,) = changed["spec"]["template"]["spec"]["containers"]
    assert (container["image"], changed["metadata"]["generation"]) == ("new:1", 2)


def test_environment_variables_are_merged_by_name(cluster: Cluster, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    env = [{"name": name, "value": name} for name in "BAC"]
    body = a_workload("Deployment", replicas=0)
    body["spec"]["template"]["spec"]["containers"] = [a_container(env=env)]
    cluster.post(deployments, body).ok()

    added = {"name": "c", "env": [{"name": "D", "value": "d"}, {"name": "A", "value": "a"}]}
    patch = {"spec": {"template": {"spec": {"containers": [added]}}}}
    changed = cluster.patch(f"{deployments}/w", patch, STRATEGIC_PATCH).ok()

    (container,) = changed["spec"]["template"]["spec"]["containers"]
    assert [one["name"] for one in container["env"]] == ["D", "B", "A", "C"]


@pytest.mark.parametrize(
    "media_type", ["application/json", "text/plain", "application/x-none"], ids=str
)
def test_a_patch_of_another_media_type_is_not_taken(
    cluster: Cluster, path: str, media_type: str
) -> None:
    answer = cluster.patch(path, {"data": {"a": "2"}}, media_type)

    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")


def test_a_patch_of_an_old_version_conflicts(cluster: Cluster, path: str) -> None:
    old = cluster.get(path).ok()["metadata"]["resourceVersion"]
    cluster.patch(path, {"data": {"a": "2"}}).ok()

    answer = cluster.patch(path, {"metadata": {"resourceVersion": old}, "data": {"a": "3"}})

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert "the object has been modified; please apply your changes" in answer.message


def test_a_patch_that_changes_nothing_writes_nothing(cluster: Cluster, path: str) -> None:
    before = cluster.get(path).ok()["metadata"]["resourceVersion"]

    same = cluster.patch(path, {"data": JUST_A}).ok()

    assert same["metadata"]["resourceVersion"] == before


def test_an_update_of_an_old_version_conflicts(cluster: Cluster, path: str) -> None:
    old = cluster.get(path).ok()
    cluster.patch(path, {"data": {"a": "2"}}).ok()

    answer = cluster.put(path, old)

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


def test_an_update_under_another_name_is_refused(cluster: Cluster, path: str) -> None:
    answer = cluster.put(path, a_config_map("other"))

    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "the name of the object (other) does not match the name on the URL (m)" in answer.message
