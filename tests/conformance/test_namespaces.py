"""Namespaces: what is in one goes with it, and nothing comes into one that ends."""

from collections.abc import Callable

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import a_config_map, metadata
from tests.conformance.targets import ACCOUNTS, CONTROLLERS

FINALIZER = "conformance.example.com/hold"


def test_a_new_namespace_is_active(cluster: Cluster, namespace: str) -> None:
    found = cluster.get(f"/api/v1/namespaces/{namespace}").ok()

    assert found["status"] == {"phase": "Active"}
    assert found["spec"] == {"finalizers": ["kubernetes"]}
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace}


def test_nothing_is_created_in_a_namespace_that_does_not_exist(
    cluster: Cluster, unique: Callable[[str], str]
) -> None:
    name = unique("none")
    answer = cluster.post(f"/api/v1/namespaces/{name}/configmaps", a_config_map())

    assert (answer.status, answer.body["reason"]) == (404, "NotFound")
    assert answer.message == f'namespaces "{name}" not found'


def test_an_object_of_another_namespace_is_refused(cluster: Cluster, namespace: str) -> None:
    body = a_config_map()
    body["metadata"]["namespace"] = "other"
    answer = cluster.post(f"/api/v1/namespaces/{namespace}/configmaps", body)

    assert answer.status == 400
    assert "the namespace of the provided object does not match" in answer.message


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_the_first_namespaces_stay(cluster: Cluster, name: str) -> None:
    answer = cluster.delete(f"/api/v1/namespaces/{name}", dryRun="All")

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")


@pytest.mark.needs(CONTROLLERS)
def test_an_ending_namespace_takes_its_objects_along(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}"
    body = a_config_map()
    body["metadata"]["finalizers"] = [FINALIZER]
    cluster.post(f"{path}/configmaps", body).ok()
    cluster.post(f"{path}/secrets", {"metadata": metadata("s")}).ok()

    ending = cluster.delete(path).ok()
    assert ending["status"]["phase"] == "Terminating"
    cluster.until_gone(f"{path}/secrets/s")
    assert cluster.get(path).ok()["status"]["phase"] == "Terminating"

    refused = cluster.post(f"{path}/configmaps", a_config_map("late"))
    assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
    assert refused.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"

    cluster.until(f"{path}/configmaps/m", lambda found: "deletionTimestamp" in found["metadata"])
    cluster.patch(f"{path}/configmaps/m", {"metadata": {"finalizers": None}}).ok()
    cluster.until_gone(path)


@pytest.mark.needs(ACCOUNTS)
def test_each_namespace_has_an_account_and_the_root_certificate(
    cluster: Cluster, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}"

    cluster.until(f"{path}/serviceaccounts/default", bool)
    cluster.until(f"{path}/configmaps/kube-root-ca.crt", lambda found: found["data"]["ca.crt"])
