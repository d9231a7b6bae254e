"""Deletion: finalizers, grace, preconditions, and what becomes of dependants."""

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import Object, a_config_map, a_pod, a_workload
from tests.conformance.targets import CONTROLLERS

FINALIZER = "conformance.example.com/hold"


@pytest.fixture
def maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


def held(name: str = "m") -> Object:
    body = a_config_map(name)
    body["metadata"]["finalizers"] = [FINALIZER]
    return body


def owned(owner: Object, name: str, *, blocks: bool = False) -> Object:
    body = a_config_map(name)
    body["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
    ]
    return body


def test_a_finalizer_holds_until_it_is_removed(cluster: Cluster, maps: str) -> None:
    cluster.post(maps, held()).ok()

    deleted = cluster.delete(f"{maps}/m")
    assert deleted.status == 200
    assert deleted.body["metadata"]["deletionTimestamp"]
    assert cluster.delete(f"{maps}/m").status == 200

    cluster.patch(f"{maps}/m", {"metadata": {"finalizers": None}}).ok()
    assert cluster.get(f"{maps}/m").status == 404


def test_what_is_being_deleted_gets_no_new_finalizer(cluster: Cluster, maps: str) -> None:
    cluster.post(maps, held()).ok()
    cluster.delete(f"{maps}/m").ok()

    more = {"metadata": {"finalizers": [FINALIZER, "conformance.example.com/more"]}}
    answer = cluster.patch(f"{maps}/m", more)

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    cluster.patch(f"{maps}/m", {"metadata": {"finalizers": None}}).ok()


@pytest.mark.parametrize(
    "precondition",
    [{"uid": "00000000-0000-0000-0000-000000000000"}, {"resourceVersion": "1"}],
    ids=["uid", "resourceVersion"],
)
def test_a_precondition_that_fails_is_a_conflict(
    cluster: Cluster, maps: str, precondition: Object
) -> None:
    cluster.post(maps, a_config_map()).ok()

    answer = cluster.delete(f"{maps}/m", {"preconditions": precondition})

    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert cluster.get(f"{maps}/m").status == 200


def test_an_unbound_pod_goes_at_once(cluster: Cluster, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod()).ok()

    deleted = cluster.delete(f"{pods}/p").ok()

    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 0
    assert cluster.get(f"{pods}/p").status == 404


def test_a_bound_pod_waits_for_its_kubelet(cluster: Cluster, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod(nodeName="conformance-no-such-node")).ok()

    deleted = cluster.delete(f"{pods}/p", gracePeriodSeconds=20).ok()
    assert deleted["metadata"]["deletionGracePeriodSeconds"] == 20
    assert deleted["metadata"]["deletionTimestamp"]

    cluster.delete(f"{pods}/p", gracePeriodSeconds=0)
    cluster.until_gone(f"{pods}/p")


@pytest.mark.needs(CONTROLLERS)
def test_dependants_go_with_their_owner(cluster: Cluster, maps: str) -> None:
    owner = cluster.post(maps, a_config_map("owner")).ok()
    cluster.post(maps, owned(owner, "child")).ok()

    cluster.delete(f"{maps}/owner", propagationPolicy="Background").ok()

    cluster.until_gone(f"{maps}/child")


@pytest.mark.needs(CONTROLLERS)
def test_orphans_stay_without_their_owner(cluster: Cluster, maps: str) -> None:
    owner = cluster.post(maps, a_config_map("owner")).ok()
    cluster.post(maps, owned(owner, "child")).ok()

    cluster.delete(f"{maps}/owner", propagationPolicy="Orphan").ok()

    cluster.until_gone(f"{maps}/owner")
    assert "ownerReferences" not in cluster.get(f"{maps}/child").ok()["metadata"]


@pytest.mark.needs(CONTROLLERS)
def test_in_the_foreground_the_owner_goes_last(cluster: Cluster, maps: str) -> None:
    owner = cluster.post(maps, a_config_map("owner")).ok()
    child = owned(owner, "child", blocks=True)
    child["metadata"]["finalizers"] = [FINALIZER]
    cluster.post(maps, child).ok()

    cluster.delete(f"{maps}/owner", propagationPolicy="Foreground").ok()
    cluster.until(f"{maps}/child", lambda found: "deletionTimestamp" in found["metadata"])
    assert cluster.get(f"{maps}/owner").ok()["metadata"]["finalizers"] == ["foregroundDeletion"]

    cluster.patch(f"{maps}/child", {"metadata": {"finalizers": None}}).ok()
    cluster.until_gone(f"{maps}/owner")


@pytest.mark.needs(CONTROLLERS)
def test_what_names_an_owner_that_never_was_goes(cluster: Cluster, maps: str) -> None:
    ghost = {"metadata": {"name": "ghost", "uid": "00000000-0000-4000-8000-000000000000"}}
    cluster.post(maps, owned(ghost, "child")).ok()

    cluster.until_gone(f"{maps}/child")


@pytest.mark.needs(CONTROLLERS)
def test_a_deployment_takes_its_pods_along(cluster: Cluster, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(path, a_workload("Deployment", replicas=2)).ok()
    cluster.until(pods, lambda found: len(found["items"]) == 2)

    cluster.delete(f"{path}/w", propagationPolicy="Background").ok()

    cluster.until(pods, lambda found: not found["items"])


@pytest.mark.parametrize(
    "options",
    [
        {"propagationPolicy": "Sideways"},
        {"propagationPolicy": "Orphan", "orphanDependents": True},
        {"kind": "Pod", "apiVersion": "v1"},
        {"gracePeriodSeconds": "soon"},
    ],
    ids=str,
)
def test_wrong_options_delete_nothing(cluster: Cluster, maps: str, options: Object) -> None:
    cluster.post(maps, a_config_map()).ok()

    answer = cluster.delete(f"{maps}/m", options)

    assert answer.status in (400, 422), answer.body
    assert cluster.get(f"{maps}/m").status == 200
