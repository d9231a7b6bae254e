"""Lists: selectors, pages, and how new what they show must be."""

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import a_config_map, a_pod, metadata


@pytest.fixture
def maps(cluster: Cluster, namespace: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name, labels in {
        "a": {"tier": "front", "n": "1"},
        "b": {"tier": "back"},
        "c": {"tier": "back", "n": "3"},
        "d": {},
    }.items():
        cluster.post(path, {"metadata": metadata(name, labels=labels)}).ok()
    return path


def names(listed: object) -> list[str]:
    assert isinstance(listed, dict)
    return [
        item["metadata"]["name"]
        for item in listed["items"]
        if item["metadata"]["name"] != "kube-root-ca.crt"
    ]


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("tier=back", ["b", "c"]),
        ("tier==back", ["b", "c"]),
        ("tier!=back", ["a", "d"]),
        ("tier in (front, back)", ["a", "b", "c"]),
        ("tier notin (front)", ["b", "c", "d"]),
        ("n", ["a", "c"]),
        ("!n", ["b", "d"]),
        ("tier=back,n", ["c"]),
        ("n>1", ["c"]),
        ("n<3", ["a"]),
        ("none=x", []),
    ],
)
def test_labels_select(cluster: Cluster, maps: str, selector: str, selected: list[str]) -> None:
    assert names(cluster.get(maps, labelSelector=selector).ok()) == selected


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ("metadata.name=b", ["b"]),
        ("metadata.name!=b", ["a", "c", "d"]),
        ("metadata.name=none", []),
    ],
)
def test_fields_select(cluster: Cluster, maps: str, selector: str, selected: list[str]) -> None:
    assert names(cluster.get(maps, fieldSelector=selector).ok()) == selected


def test_pods_are_selected_by_node_and_phase(cluster: Cluster, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod("free")).ok()
    cluster.post(pods, a_pod("bound", nodeName="conformance-no-such-node")).ok()

    unbound = cluster.get(pods, fieldSelector="spec.nodeName=").ok()
    bound = cluster.get(pods, fieldSelector="spec.nodeName!=,status.phase=Pending").ok()

    assert (names(unbound), names(bound)) == (["free"], ["bound"])
    cluster.delete(f"{pods}/bound", gracePeriodSeconds=0)


@pytest.mark.parametrize(
    "query",
    [
        {"labelSelector": "a in b"},
        {"labelSelector": "a b"},
        {"fieldSelector": "data.a=b"},
        {"fieldSelector": "metadata.name"},
        {"limit": "x"},
        {"continue": "x"},
        {"resourceVersion": "x"},
        {"resourceVersionMatch": "Exact"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
        {"resourceVersion": "1", "resourceVersionMatch": "Nearly"},
    ],
    ids=str,
)
def test_a_wrong_parameter_is_refused(
    cluster: Cluster, namespace: str, query: dict[str, str]
) -> None:
    answer = cluster.get(f"/api/v1/namespaces/{namespace}/configmaps", **query)

    assert answer.status in (400, 422), answer.body


def test_pages_are_of_one_moment(cluster: Cluster, maps: str) -> None:
    first = cluster.get(maps, limit=2, labelSelector="tier").ok()
    cluster.post(maps, a_config_map("aa")).ok()
    cluster.delete(f"{maps}/c").ok()

    second = cluster.get(
        maps, limit=2, labelSelector="tier", **{"continue": first["metadata"]["continue"]}
    ).ok()

    assert (names(first), names(second)) == (["a", "b"], ["c"])
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
    assert "continue" not in second["metadata"]


def test_what_is_left_is_counted(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    for name in "abcde":
        cluster.post(path, {"metadata": metadata(name)}).ok()

    page = cluster.get(path, limit=2).ok()

    assert page["metadata"]["remainingItemCount"] == 3


def test_an_exact_version_shows_what_was(cluster: Cluster, maps: str) -> None:
    then = cluster.get(maps).ok()["metadata"]["resourceVersion"]
    cluster.delete(f"{maps}/a").ok()

    was = cluster.get(maps, resourceVersion=then, resourceVersionMatch="Exact").ok()
    now = cluster.get(maps, resourceVersion=then, resourceVersionMatch="NotOlderThan").ok()

    assert (names(was), names(now)) == (["a", "b", "c", "d"], ["b", "c", "d"])
    assert was["metadata"]["resourceVersion"] == then


def test_a_version_of_the_future_is_not_there_yet(cluster: Cluster, maps: str) -> None:
    answer = cluster.get(maps, resourceVersion="99999999999", resourceVersionMatch="NotOlderThan")

    assert (answer.status, answer.body["reason"]) == (504, "Timeout")
    assert [one["reason"] for one in answer.body["details"]["causes"]] == [
        "ResourceVersionTooLarge"
    ]


def test_every_namespace_is_listed(cluster: Cluster, maps: str) -> None:
    listed = cluster.get("/api/v1/configmaps", labelSelector="tier=front,n=1").ok()

    assert "a" in names(listed)
    assert listed["kind"] == "ConfigMapList"


def test_a_collection_is_deleted_by_selector(cluster: Cluster, maps: str) -> None:
    cluster.delete(maps, labelSelector="tier=back").ok()

    assert names(cluster.get(maps).ok()) == ["a", "d"]
