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


@pytest.mark.parametrize(
    ("media_type", "body", "message"),
    [
        pytest.param(
            MERGE_PATCH,
            "[]",
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}",
            id="merge patch that is a list",
        ),
        pytest.param(MERGE_PATCH, "null", "Invalid JSON Patch", id="merge patch of null"),
        pytest.param(
            MERGE_PATCH,
            "",
            "error decoding patch: unexpected end of JSON input",
            id="empty merge patch",
        ),
        pytest.param(
            STRATEGIC_PATCH,
            '"x"',
            "json: cannot unmarshal string into Go value of type map[string]interface {}",
            id="strategic patch that is text",
        ),
        pytest.param(
            JSON_PATCH,
            "{}",
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp",
            id="JSON patch that is an object",
        ),
        pytest.param(
            JSON_PATCH,
            '[{"op":1,"path":"/a"}]',
            "error decoding patch: json: cannot unmarshal number into Go struct field "
            "jsonPatchOp.op of type string",
            id="operation that is a number",
        ),
    ],
)
def test_a_body_that_is_no_patch_is_refused(
    cluster: Cluster, path: str, media_type: str, body: str, message: str
) -> None:
    answer = cluster.patch(path, body, media_type)

    assert (answer.status, answer.message) == (400, message)


@pytest.mark.parametrize(
    ("media_type", "patch"),
    [
        pytest.param(MERGE_PATCH, {"metadata": {"name": None}}, id="name merged away"),
        pytest.param(MERGE_PATCH, {"metadata": None}, id="metadata merged away"),
        pytest.param(STRATEGIC_PATCH, {"metadata": {"$patch": "delete"}}, id="metadata deleted"),
        pytest.param(
            STRATEGIC_PATCH, {"metadata": {"$retainKeys": ["labels"]}}, id="name not retained"
        ),
        pytest.param(JSON_PATCH, [{"op": "remove", "path": "/metadata/name"}], id="name removed"),
        pytest.param(JSON_PATCH, [{"op": "replace", "path": "", "value": {}}], id="replaced"),
    ],
)
def test_an_object_that_lost_its_name_is_refused(
    cluster: Cluster, path: str, media_type: str, patch: object
) -> None:
    answer = cluster.patch(path, patch, media_type)

    assert answer.status == 400
    assert answer.message == (
        "the name of the object (m based on URL) was undeterminable: name must be provided"
    )


@pytest.mark.parametrize(
    ("patch", "labels"),
    [
        pytest.param(
            [{"op": "copy", "from": "/none", "path": "/metadata/labels/x"}], {"x": ""}, id="copied"
        ),
        pytest.param([{"op": "add", "path": "/metadata/labels/x"}], {"x": ""}, id="added"),
    ],
)
def test_what_is_missing_is_null(
    cluster: Cluster, path: str, patch: list[Object], labels: Object
) -> None:
    cluster.patch(path, {"metadata": {"labels": {"k": "v"}}}).ok()

    changed = cluster.patch(path, patch, JSON_PATCH).ok()

    assert changed["metadata"]["labels"] == {"k": "v", **labels}


def test_list_items_are_counted_from_the_end(cluster: Cluster, path: str) -> None:
    cluster.patch(path, {"metadata": {"finalizers": ["a.io/a", "b.io/b"]}}).ok()
    try:
        patch = [{"op": "remove", "path": "/metadata/finalizers/-1"}]
        changed = cluster.patch(path, patch, JSON_PATCH).ok()

        assert changed["metadata"]["finalizers"] == ["a.io/a"]
    finally:
        cluster.patch(path, {"metadata": {"finalizers": None}}).ok()


def test_a_wrong_value_is_told_as_it_was_patched(cluster: Cluster, path: str) -> None:
    answer = cluster.patch(path, {"data": {"a": 1}}, STRATEGIC_PATCH)

    assert answer.status == 422
    assert answer.message == (
        ' "" is invalid: patch: Invalid value: "map[data:map[a:1]]": cannot convert int64 to string'
    )
