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


def test_the_watch_cache_knows_no_pages(cluster: Cluster, maps: str) -> None:
    whole = cluster.get(maps, limit=2, resourceVersion="0").ok()

    assert names(whole) == ["a", "b", "c", "d"]
    assert "continue" not in whole["metadata"]


@pytest.mark.parametrize(
    ("token", "why"),
    [
        pytest.param("x", "illegal base64 data at input byte 0", id="one letter"),
        pytest.param("ab$d", "illegal base64 data at input byte 2", id="no letter"),
        pytest.param(
            "eyJ2IjoibWV0YSJ9", "server does not recognize this encoded version meta", id="version"
        ),
        pytest.param(
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
            "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            id="no revision",
        ),
        pytest.param(
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0",
            "encoded start key empty (version meta.k8s.io/v1)",
            id="no start",
        ),
    ],
)
def test_a_token_that_nobody_gave_is_refused(
    cluster: Cluster, maps: str, token: str, why: str
) -> None:
    answer = cluster.get(maps, **{"continue": token})

    assert answer.status == 400
    assert answer.message == f"invalid continue token: continue key is not valid: {why}"


def test_a_token_goes_with_no_match(cluster: Cluster, maps: str) -> None:
    token = cluster.get(maps, limit=1).ok()["metadata"]["continue"]

    answer = cluster.get(maps, **{"continue": token}, resourceVersionMatch="Exact")

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert "resourceVersionMatch is forbidden when continue is provided" in answer.message


def test_one_object_can_be_no_newer_than_all(cluster: Cluster, maps: str) -> None:
    assert cluster.get(f"{maps}/a", resourceVersion="0").status == 200
    assert cluster.get(f"{maps}/a", resourceVersion="abc").status == 500


@pytest.mark.parametrize("page", [1, 3, 100])
def test_pages_of_the_pods_of_one_node(cluster: Cluster, namespace: str, page: int) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    for number in range(4):
        body = a_pod(f"p{number}", schedulerName="none")
        body["spec"]["nodeName"] = f"none-{number % 2}"
        cluster.post(pods, body).ok()
    query = {"fieldSelector": "spec.nodeName=none-1", "limit": page}

    found, token = list[str](), ""
    while True:
        listed = cluster.get(pods, **query, **({"continue": token} if token else {})).ok()
        found += names(listed)
        token = listed["metadata"].get("continue", "")
        if not token:
            break

    assert found == ["p1", "p3"]
