"""Watches: what happened since, bookmarks, the initial state, versions that are gone."""

from itertools import islice

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import Object, a_config_map, a_pod, metadata


@pytest.fixture
def secrets(cluster: Cluster, namespace: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    for name in "ab":
        cluster.post(path, {"metadata": metadata(name, labels={"name": name})}).ok()
    return path


def seen(event: Object) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"]["name"]


def revision(cluster: Cluster, path: str) -> str:
    return str(cluster.get(path).ok()["metadata"]["resourceVersion"])


def test_events_follow_from_a_version(cluster: Cluster, secrets: str) -> None:
    start = revision(cluster, secrets)
    cluster.post(secrets, {"metadata": metadata("c")}).ok()
    cluster.patch(f"{secrets}/a", {"metadata": {"labels": {"x": "y"}}}).ok()
    cluster.delete(f"{secrets}/b").ok()

    with cluster.watch(secrets, resourceVersion=start) as events:
        found = list(islice(events, 3))

    assert [seen(event) for event in found] == [
        ("ADDED", "c"),
        ("MODIFIED", "a"),
        ("DELETED", "b"),
    ]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in found]
    assert versions == sorted(set(versions))


def test_events_arrive_while_one_watches(cluster: Cluster, secrets: str) -> None:
    with cluster.watch(secrets, resourceVersion=revision(cluster, secrets)) as events:
        cluster.post(secrets, {"metadata": metadata("c")}).ok()
        assert seen(next(events)) == ("ADDED", "c")
        cluster.delete(f"{secrets}/c").ok()
        assert seen(next(events)) == ("DELETED", "c")


def test_without_a_version_the_state_comes_first(cluster: Cluster, secrets: str) -> None:
    with cluster.watch(secrets) as events:
        found = sorted(seen(event) for event in islice(events, 2))

    assert found == [("ADDED", "a"), ("ADDED", "b")]


def test_an_object_that_leaves_the_selection_is_deleted_there(
    cluster: Cluster, secrets: str
) -> None:
    start = revision(cluster, secrets)
    cluster.patch(f"{secrets}/a", {"metadata": {"labels": {"name": "x"}}}).ok()
    cluster.patch(f"{secrets}/a", {"metadata": {"labels": {"name": "a"}}}).ok()

    with cluster.watch(secrets, resourceVersion=start, labelSelector="name=a") as events:
        found = [seen(event) for event in islice(events, 2)]

    assert found == [("DELETED", "a"), ("ADDED", "a")]


def test_one_object_is_watched(cluster: Cluster, secrets: str) -> None:
    start = revision(cluster, secrets)
    cluster.patch(f"{secrets}/a", {"metadata": {"labels": {"x": "y"}}}).ok()
    cluster.patch(f"{secrets}/b", {"metadata": {"labels": {"x": "y"}}}).ok()

    with cluster.watch(secrets, resourceVersion=start, fieldSelector="metadata.name=b") as events:
        assert seen(next(events)) == ("MODIFIED", "b")


def test_the_initial_state_ends_with_a_bookmark(cluster: Cluster, secrets: str) -> None:
    with cluster.watch(
        secrets,
        sendInitialEvents="true",
        allowWatchBookmarks="true",
        resourceVersionMatch="NotOlderThan",
    ) as events:
        first, second, mark = islice(events, 3)

    assert [seen(first), seen(second)] == [("ADDED", "a"), ("ADDED", "b")]
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(mark["object"]["metadata"]["resourceVersion"]) >= int(
        second["object"]["metadata"]["resourceVersion"]
    )


def test_a_watch_ends_at_its_timeout(cluster: Cluster, secrets: str) -> None:
    with cluster.watch(
        secrets, resourceVersion=revision(cluster, secrets), timeoutSeconds=1
    ) as events:
        assert list(events) == []


@pytest.mark.parametrize(
    "query",
    [
        {"sendInitialEvents": "true"},
        {"sendInitialEvents": "true", "resourceVersionMatch": "Exact", "resourceVersion": "1"},
        {"resourceVersionMatch": "NotOlderThan"},
    ],
    ids=str,
)
def test_initial_events_need_their_match(
    cluster: Cluster, secrets: str, query: dict[str, str]
) -> None:
    answer = cluster.get(secrets, watch="1", timeoutSeconds=1, **query)

    assert (answer.status, answer.body["reason"]) == (422, "Invalid")


def test_a_watch_of_tables_has_rows(cluster: Cluster, namespace: str) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.post(pods, a_pod("p")).ok()
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}

    answer = cluster.send("GET", pods, headers=accept, query={"watch": "1", "timeoutSeconds": "1"})
    (line, *_) = answer.body if isinstance(answer.body, list) else [answer.body]

    assert line["type"] == "ADDED"
    assert line["object"]["kind"] == "Table"
    assert line["object"]["rows"][0]["cells"][0] == "p"


def test_deletion_is_seen_as_the_last_state(cluster: Cluster, namespace: str) -> None:
    maps = f"/api/v1/namespaces/{namespace}/configmaps"
    made = cluster.post(maps, a_config_map("m", a="1")).ok()
    cluster.delete(f"{maps}/m").ok()

    with cluster.watch(
        maps,
        resourceVersion=made["metadata"]["resourceVersion"],
        fieldSelector="metadata.name=m",
    ) as events:
        event = next(events)

    assert seen(event) == ("DELETED", "m")
    assert event["object"]["data"] == {"a": "1"}
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(
        made["metadata"]["resourceVersion"]
    )


def test_only_the_first_table_of_a_watch_defines_the_columns(
    cluster: Cluster, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    for name in ("a", "b"):
        cluster.post(path, a_config_map(name)).ok()
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    query = {"watch": "true", "timeoutSeconds": 1, "fieldSelector": "metadata.name!=none"}

    answer = cluster.send("GET", path, headers=accept, query=query)

    tables = [event["object"] for event in answer.body]
    assert tables[0]["columnDefinitions"]
    assert all(table["columnDefinitions"] is None for table in tables[1:])
    assert all(table["metadata"]["resourceVersion"] for table in tables)
