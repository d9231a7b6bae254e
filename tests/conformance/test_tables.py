"""The columns that `kubectl get` shows."""

from collections.abc import Callable

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import (
    Object,
    a_budget,
    a_config_map,
    a_job,
    a_pod,
    a_workload,
    metadata,
)

CORE = "/api/v1/namespaces/{}/"
APPS = "/apis/apps/v1/namespaces/{}/"

ROWS: dict[str, tuple[str, Object, Object]] = {
    "pods": (
        CORE,
        a_pod("x"),
        {"Name": "x", "Ready": "0/1", "Status": "Pending", "Restarts": "0", "Node": "<none>"},
    ),
    "configmaps": (CORE, a_config_map("x", a="1", b="2"), {"Name": "x", "Data": 2}),
    "secrets": (
        CORE,
        {"metadata": metadata("x"), "stringData": {"a": "b"}},
        {"Name": "x", "Type": "Opaque", "Data": 1},
    ),
    "deployments": (
        APPS,
        a_workload("Deployment", "x", replicas=0),
        {"Name": "x", "Ready": "0/0", "Up-to-date": 0, "Available": 0, "Containers": "c"},
    ),
    "replicasets": (
        APPS,
        a_workload("ReplicaSet", "x", replicas=0),
        {"Name": "x", "Desired": 0, "Current": 0, "Ready": 0, "Selector": "app=a"},
    ),
    "statefulsets": (
        APPS,
        a_workload("StatefulSet", "x", replicas=0),
        {"Name": "x", "Ready": "0/0", "Containers": "c"},
    ),
    "jobs": (
        "/apis/batch/v1/namespaces/{}/",
        a_job("x", suspend=True),
        {"Name": "x", "Completions": "0/1", "Containers": "c"},
    ),
    "poddisruptionbudgets": (
        "/apis/policy/v1/namespaces/{}/",
        a_budget("x", minAvailable=1),
        {"Name": "x", "Min Available": "1", "Max Unavailable": "N/A"},
    ),
    "leases": (
        "/apis/coordination.k8s.io/v1/namespaces/{}/",
        {"metadata": metadata("x"), "spec": {"holderIdentity": "h"}},
        {"Name": "x", "Holder": "h"},
    ),
}
"""By resource: folder, object, cells by column."""


def cells(table: Object) -> Object:
    """Return the only row's cells by column."""
    (row,) = table["rows"]
    names = [column["name"] for column in table["columnDefinitions"]]
    return dict(zip(names, row["cells"], strict=True))


@pytest.mark.parametrize("plural", ROWS)
def test_a_row_shows_the_object(cluster: Cluster, namespace: str, plural: str) -> None:
    folder, body, expected = ROWS[plural]
    path = folder.format(namespace) + plural
    cluster.post(path, body).ok()

    shown = cells(cluster.table(path, fieldSelector="metadata.name=x"))

    assert {name: shown.get(name) for name in expected} == expected
    assert "Age" in shown


def test_a_pod_whose_container_fails_shows_why(cluster: Cluster, namespace: str) -> None:
    pods = CORE.format(namespace) + "pods"
    cluster.post(pods, a_pod("x")).ok()
    status = {
        "name": "c",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 3,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }
    patch = {"status": {"phase": "Running", "containerStatuses": [status]}}
    cluster.patch(f"{pods}/x/status", patch).ok()

    shown = cells(cluster.table(pods))

    assert (shown["Status"], shown["Restarts"], shown["Ready"]) == ("CrashLoopBackOff", "3", "0/1")


def test_a_node_shows_its_state_and_roles(
    cluster: Cluster, unique: Callable[[str], str], create: Callable[[str, Object], Object]
) -> None:
    name = unique("n")
    labels = {"node-role.kubernetes.io/worker": ""}
    body = {"metadata": metadata(name, labels=labels), "spec": {"unschedulable": True}}
    create("/api/v1/nodes", body)

    shown = cells(cluster.table("/api/v1/nodes", fieldSelector=f"metadata.name={name}"))

    assert (shown["Name"], shown["Roles"]) == (name, "worker")
    assert shown["Status"].endswith(",SchedulingDisabled")


def test_rows_carry_metadata_only_unless_more_is_asked(cluster: Cluster, namespace: str) -> None:
    maps = CORE.format(namespace) + "configmaps"
    cluster.post(maps, a_config_map("x")).ok()
    selector = {"fieldSelector": "metadata.name=x"}

    by_default = cluster.table(maps, **selector)["rows"][0]["object"]
    nothing = cluster.table(maps, includeObject="None", **selector)["rows"][0]
    whole = cluster.table(maps, includeObject="Object", **selector)["rows"][0]["object"]

    assert by_default["kind"] == "PartialObjectMetadata"
    assert nothing.get("object") is None
    assert whole["data"] == {"a": "1"}


def test_metadata_alone_is_served_to_those_who_ask(cluster: Cluster, namespace: str) -> None:
    maps = CORE.format(namespace) + "configmaps"
    cluster.post(maps, a_config_map("x")).ok()
    accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

    found = cluster.send("GET", maps, headers={"Accept": accept}).ok()

    assert found["kind"] == "PartialObjectMetadataList"
    assert all("data" not in item for item in found["items"])
