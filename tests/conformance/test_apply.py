"""Server-side apply: who owns which field, and what happens when two want it."""

import json

import pytest

from tests.conformance.cluster import JSON_PATCH, Cluster
from tests.conformance.objects import Object, a_config_map, a_workload


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/m"


def config(**data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data}


def owners(obj: Object) -> dict[str, Object]:
    """Return the fields that each manager owns, by manager and operation."""
    return {
        f"{entry['manager']} {entry['operation']}": entry["fieldsV1"]
        for entry in obj["metadata"]["managedFields"]
    }


def test_applying_creates_and_owns(cluster: Cluster, path: str) -> None:
    made = cluster.apply(path, config(a="1"), "one")

    assert made.status == 201
    assert owners(made.body) == {"one Apply": {"f:data": {"f:a": {}}}}
    assert cluster.apply(path, config(a="1"), "one").status == 200


def test_applying_again_removes_what_is_left_out(cluster: Cluster, path: str) -> None:
    cluster.apply(path, config(a="1", b="2"), "one").ok()

    changed = cluster.apply(path, config(a="1"), "one").ok()

    assert changed["data"] == {"a": "1"}


def test_two_managers_share_what_they_agree_on(cluster: Cluster, path: str) -> None:
    cluster.apply(path, config(a="1"), "one").ok()
    cluster.apply(path, config(a="1", b="2"), "two").ok()

    left = cluster.apply(path, config(), "two").ok()

    assert left["data"] == {"a": "1"}


def test_another_value_conflicts_until_it_is_forced(cluster: Cluster, path: str) -> None:
    cluster.apply(path, config(a="1"), "one").ok()

    refused = cluster.apply(path, config(a="2"), "two")
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
    assert refused.message == 'Apply failed with 1 conflict: conflict with "one": .data.a'
    assert refused.causes == [("FieldManagerConflict", ".data.a")]

    forced = cluster.apply(path, config(a="2"), "two", force="true").ok()
    assert forced["data"] == {"a": "2"}
    assert owners(forced) == {"two Apply": {"f:data": {"f:a": {}}}}


def test_who_updates_a_field_owns_it(cluster: Cluster, path: str) -> None:
    cluster.apply(path, config(a="1"), "one").ok()
    cluster.patch(path, {"data": {"a": "2"}}, fieldManager="editor").ok()

    refused = cluster.apply(path, config(a="1"), "one")

    assert refused.status == 409
    assert 'conflict with "editor" using v1' in refused.message


def test_creating_owns_as_an_update(cluster: Cluster, path: str) -> None:
    maps = path.rpartition("/")[0]
    made = cluster.post(maps, a_config_map(a="1"), fieldManager="creator").ok()

    assert owners(made) == {"creator Update": {"f:data": {".": {}, "f:a": {}}}}


def test_list_members_are_owned_by_their_key(cluster: Cluster, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.post(deployments, a_workload("Deployment", replicas=0)).ok()
    sidecar = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "w"},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "sidecar", "image": "i"}]},
            },
        },
    }

    both = cluster.apply(f"{deployments}/w", sidecar, "injector").ok()
    assert [one["name"] for one in both["spec"]["template"]["spec"]["containers"]] == [
        "c",
        "sidecar",
    ]
    containers = owners(both)["injector Apply"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert list(containers) == ['k:{"name":"sidecar"}']


def test_scaling_takes_ownership_of_replicas_only(cluster: Cluster, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments/w"
    body = a_workload("Deployment", replicas=0)
    cluster.apply(path, body, "owner").ok()
    cluster.patch(f"{path}/scale", {"spec": {"replicas": 1}}, fieldManager="scaler").ok()

    refused = cluster.apply(path, body, "owner")

    assert refused.causes == [("FieldManagerConflict", ".spec.replicas")]


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        pytest.param({}, config(a="1"), 422, id="no manager"),
        pytest.param({"fieldManager": "a"}, "{", 400, id="no YAML"),
        pytest.param(
            {"fieldManager": "a"},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}},
            400,
            id="another name",
        ),
        pytest.param(
            {"fieldManager": "a"},
            {**config(a="1"), "metadata": {"name": "m", "managedFields": [{}]}},
            400,
            id="managed fields",
        ),
    ],
)
def test_a_wrong_apply_is_refused(
    cluster: Cluster, path: str, query: Object, body: object, status: int
) -> None:
    answer = cluster.send(
        "PATCH", path, body, headers={"Content-Type": "application/apply-patch+yaml"}, query=query
    )

    assert answer.status == status
    assert cluster.get(path).status == 404


def test_applied_yaml_is_read(cluster: Cluster, path: str) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: '1'\n"

    made = cluster.apply(path, text, "one").ok()

    assert made["data"] == {"a": "1"}


def test_managers_that_a_client_sends_replace_those_that_were(cluster: Cluster, path: str) -> None:
    """Kubectl moves from client-side to server-side apply in this way."""
    cluster.apply(path, config(a="1"), "old").ok()
    entry = cluster.get(path).ok()["metadata"]["managedFields"][0]
    moved = [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}]
    entry["manager"] = "new"

    changed = cluster.patch(path, moved, JSON_PATCH, fieldManager="mover").ok()

    assert owners(changed) == {"new Apply": {"f:data": {"f:a": {}}}}
    refused = cluster.apply(path, config(a="2"), "third")
    assert refused.message == 'Apply failed with 1 conflict: conflict with "new": .data.a'


def test_one_empty_entry_asks_for_no_managers(cluster: Cluster, path: str) -> None:
    cluster.apply(path, config(a="1"), "one").ok()

    changed = cluster.patch(path, {"metadata": {"managedFields": [{}]}}).ok()

    assert "managedFields" not in changed["metadata"]


def test_kubectl_takes_what_it_applied_from_the_clients_side(cluster: Cluster, path: str) -> None:
    applied = {**config(a="1"), "metadata": {"name": "m", "annotations": {}}}
    last = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(applied)}
    made = {**config(a="1"), "metadata": {"name": "m", "annotations": last}}
    cluster.post(path.removesuffix("/m"), made, fieldManager="kubectl-client-side-apply").ok()

    assert cluster.apply(path, config(a="2"), "other").status == 409
    assert cluster.apply(path, config(a="2"), "kubectl").status == 200


def test_an_apply_of_a_scale_minds_the_owner(cluster: Cluster, namespace: str) -> None:
    workload = f"/apis/apps/v1/namespaces/{namespace}/deployments/w"
    cluster.apply(workload, a_workload("Deployment", replicas=1), "owner").ok()
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "w"}}
    wanted = {**scale, "spec": {"replicas": 0}}

    refused = cluster.apply(f"{workload}/scale", wanted, "scaler")
    assert refused.message == 'Apply failed with 1 conflict: conflict with "owner": .spec.replicas'

    cluster.apply(f"{workload}/scale", wanted, "scaler", force="true").ok()
    assert cluster.get(workload).ok()["spec"]["replicas"] == 0


def test_an_item_goes_with_whoever_wanted_it(cluster: Cluster, namespace: str) -> None:
    service = f"/api/v1/namespaces/{namespace}/services/s"
    body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}

    def with_port(port: int) -> Object:
        return {**body, "spec": {"clusterIP": "None", "ports": [{"port": port}]}}

    cluster.apply(service, with_port(80), "one").ok()
    edited = {"spec": {"ports": [{"port": 80, "protocol": "TCP", "targetPort": 81}]}}
    cluster.patch(service, edited, fieldManager="editor").ok()

    changed = cluster.apply(service, with_port(90), "one").ok()

    assert [one["port"] for one in changed["spec"]["ports"]] == [90]
    assert list(owners(changed)) == ["one Apply"]


def test_an_item_that_is_there_twice_is_refused(cluster: Cluster, namespace: str) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    twice = {**pod, "spec": {"containers": [{"name": "c", "image": "i"}] * 2}}

    answer = cluster.apply(f"/api/v1/namespaces/{namespace}/pods/p", twice, "one")

    assert answer.status == 500
    assert answer.message.endswith('.spec.containers: duplicate entries for key [name="c"]')
