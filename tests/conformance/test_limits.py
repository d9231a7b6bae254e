"""LimitRange and PriorityClass: what admission adds to pods, and what it refuses."""

from collections.abc import Callable

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import Object, a_container, a_pod, metadata


@pytest.fixture
def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


def limit(cluster: Cluster, namespace: str, **item: object) -> None:
    body = {"metadata": metadata("l"), "spec": {"limits": [{"type": "Container", **item}]}}
    cluster.post(f"/api/v1/namespaces/{namespace}/limitranges", body).ok()


def test_a_limit_range_fills_in_defaults(cluster: Cluster, namespace: str, pods: str) -> None:
    limit(cluster, namespace, default={"cpu": "2"}, defaultRequest={"cpu": "1"})

    made = cluster.post(pods, a_pod()).ok()

    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "2"},
        "requests": {"cpu": "1"},
    }


@pytest.mark.parametrize(
    ("bound", "request_", "words"),
    [
        ({"max": {"cpu": "1"}}, "2", "maximum cpu usage per Container is 1, but limit is 2"),
        (
            {"min": {"cpu": "1"}},
            "500m",
            "minimum cpu usage per Container is 1, but request is 500m",
        ),
    ],
)
def test_a_limit_range_refuses_what_is_out_of_bounds(
    cluster: Cluster, namespace: str, pods: str, bound: Object, request_: str, words: str
) -> None:
    limit(cluster, namespace, **bound)
    resources = {"limits": {"cpu": request_}}

    answer = cluster.post(pods, a_pod(containers=[a_container(resources=resources)]))

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert words in answer.message


def test_a_priority_class_gives_pods_its_value(
    cluster: Cluster,
    pods: str,
    unique: Callable[[str], str],
    create: Callable[[str, Object], Object],
) -> None:
    name = unique("priority")
    body = {"metadata": metadata(name), "value": 7, "preemptionPolicy": "Never"}
    create("/apis/scheduling.k8s.io/v1/priorityclasses", body)

    spec = cluster.post(pods, a_pod(priorityClassName=name)).ok()["spec"]

    assert (spec["priority"], spec["preemptionPolicy"]) == (7, "Never")


def test_a_pod_of_no_such_priority_class_is_refused(cluster: Cluster, pods: str) -> None:
    answer = cluster.post(pods, a_pod(priorityClassName="conformance-none"))

    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert "no PriorityClass with name conformance-none was found" in answer.message


def test_a_new_node_is_tainted_until_it_is_ready(
    cluster: Cluster, unique: Callable[[str], str]
) -> None:
    body = {"metadata": metadata(unique("n"))}

    made = cluster.post("/api/v1/nodes", body, dryRun="All").ok()

    assert made["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]
