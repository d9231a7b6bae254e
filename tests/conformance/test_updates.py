"""What may be changed of an object that is there, and what never."""

from typing import Any

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import (
    Object,
    a_budget,
    a_config_map,
    a_container,
    a_job,
    a_pod,
    a_workload,
    metadata,
)

CORE = "/api/v1/namespaces/{}/"
APPS = "/apis/apps/v1/namespaces/{}/"
BATCH = "/apis/batch/v1/namespaces/{}/"


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        pytest.param("nodeName", "n", 422, id="node name"),
        pytest.param("containers", [a_container(image="other:1")], 200, id="image"),
        pytest.param("containers", [a_container(name="other")], 422, id="container name"),
        pytest.param("restartPolicy", "Never", 422, id="restart policy"),
        pytest.param("activeDeadlineSeconds", 5, 200, id="deadline"),
        pytest.param("terminationGracePeriodSeconds", 5, 422, id="grace period"),
        pytest.param("nodeSelector", {"a": "b"}, 422, id="node selector"),
    ],
)
def test_of_a_pod_little_can_be_changed(
    cluster: Cluster, namespace: str, field: str, value: Any, status: int
) -> None:
    pods = CORE.format(namespace) + "pods"
    made = cluster.post(pods, a_pod(automountServiceAccountToken=False)).ok()
    made["spec"][field] = value

    assert cluster.put(f"{pods}/p", made).status == status


@pytest.mark.parametrize(
    ("collection", "body", "change", "field"),
    [
        pytest.param(
            APPS + "deployments",
            a_workload("Deployment", "x", replicas=0),
            {
                "spec": {
                    "selector": {"matchLabels": {"app": "b"}},
                    "template": {"metadata": {"labels": {"app": "b"}}},
                }
            },
            "spec.selector",
            id="selector of a deployment",
        ),
        pytest.param(
            BATCH + "jobs",
            a_job("x", suspend=True),
            {"spec": {"completions": 5}},
            "spec.completions",
            id="completions of a job",
        ),
        pytest.param(
            CORE + "secrets",
            {"metadata": metadata("x"), "stringData": {"a": "b"}, "immutable": True},
            {"stringData": {"a": "c"}},
            "data",
            id="data of an immutable secret",
        ),
        pytest.param(
            CORE + "secrets",
            {"metadata": metadata("x")},
            {"type": "other"},
            "type",
            id="type of a secret",
        ),
    ],
)
def test_some_fields_never_change(
    cluster: Cluster, namespace: str, collection: str, body: Object, change: Object, field: str
) -> None:
    path = collection.format(namespace)
    cluster.post(path, body).ok()

    answer = cluster.patch(f"{path}/x", change)

    assert answer.status == 422
    assert {cause for _, cause in answer.causes} == {field}


@pytest.mark.parametrize(
    ("collection", "body", "times"),
    [
        pytest.param(CORE + "configmaps", a_config_map("o"), 4, id="as a change and as a whole"),
        pytest.param(APPS + "deployments", a_workload("Deployment", "o"), 3, id="as a change"),
        pytest.param(
            "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
            a_budget("o", minAvailable=1),
            2,
            id="by nobody but the generic part",
        ),
    ],
)
def test_a_wrong_label_is_told_as_often_as_a_kind_looks(
    cluster: Cluster, namespace: str, collection: str, body: Object, times: int
) -> None:
    path = collection.format(namespace)
    cluster.post(path, body).ok()

    answer = cluster.patch(f"{path}/o", {"metadata": {"labels": {"A B": "c"}}}, dryRun="All")

    assert answer.causes == [("FieldValueInvalid", "metadata.labels")] * times


def test_nobody_dates_an_object_back(cluster: Cluster, namespace: str) -> None:
    maps = CORE.format(namespace) + "configmaps"
    made = cluster.post(maps, a_config_map("o")).ok()

    dated = {"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z"}}
    changed = cluster.patch(f"{maps}/o", dated).ok()

    assert changed["metadata"]["creationTimestamp"] == made["metadata"]["creationTimestamp"]
