"""What may be reported of objects, and how often faults of their metadata are found."""

from typing import Any

import pytest

from tests.conformance.cluster import STRATEGIC_PATCH, Cluster
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
BATCH = "/apis/batch/v1/namespaces/{}/"
POLICY = "/apis/policy/v1/namespaces/{}/"
NETWORKING = "/apis/networking.k8s.io/v1/namespaces/{}/"

_SUSPENDED = a_job("x", suspend=True, parallelism=1, completions=2)
_INDEXED = a_job("x", suspend=True, completionMode="Indexed", completions=4, backoffLimitPerIndex=1)
_CLAIM = {
    "metadata": metadata("x"),
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
_SERVICE = {"metadata": metadata("x"), "spec": {"ports": [{"port": 80}]}}
_BALANCER = {
    "metadata": metadata("x"),
    "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
}
_INGRESS = {
    "metadata": metadata("x"),
    "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
}
_QUOTA = {"metadata": metadata("x"), "spec": {"hard": {"pods": "1"}}}


def _ends(kind: str) -> Object:
    return {"type": kind, "status": "True"}


@pytest.mark.parametrize(
    ("collection", "body", "status", "fields"),
    [
        pytest.param(
            APPS + "deployments",
            a_workload("Deployment", "x", replicas=0),
            {"replicas": -1},
            [
                "status.replicas",
                "status.updatedReplicas",
                "status.readyReplicas",
                "status.availableReplicas",
            ],
            id="fewer replicas than none",
        ),
        pytest.param(
            APPS + "replicasets",
            a_workload("ReplicaSet", "x", replicas=0),
            {"replicas": 1, "readyReplicas": 1, "availableReplicas": 2},
            ["status.availableReplicas", "status.availableReplicas"],
            id="more available replicas than there are",
        ),
        pytest.param(
            APPS + "statefulsets",
            a_workload("StatefulSet", "x", serviceName="s", replicas=0),
            {"replicas": 0, "updatedReplicas": 1},
            ["status.updatedReplicas"],
            id="more updated replicas than there are",
        ),
        pytest.param(
            POLICY + "poddisruptionbudgets",
            a_budget("x", minAvailable=1),
            {
                "disruptionsAllowed": 0,
                "currentHealthy": -1,
                "desiredHealthy": 0,
                "expectedPods": 0,
                "conditions": [_ends("A")],
            },
            [
                "status.conditions[0].lastTransitionTime",
                "status.conditions[0].reason",
                "status.currentHealthy",
            ],
            id="budget with an unexplained condition",
        ),
        pytest.param(
            BATCH + "jobs",
            _SUSPENDED,
            {"active": 1, "ready": 2},
            ["status.ready"],
            id="more ready pods than active ones",
        ),
        pytest.param(
            BATCH + "jobs",
            _SUSPENDED,
            {"conditions": [_ends("Complete")]},
            ["status.completionTime", "status.conditions", "status.startTime"],
            id="job that is complete at once",
        ),
        pytest.param(
            BATCH + "jobs",
            _SUSPENDED,
            {
                "conditions": [_ends("Failed"), _ends("SuccessCriteriaMet")],
                "startTime": "2026-01-01T00:00:00Z",
                "uncountedTerminatedPods": {"failed": ["u", "u"]},
            },
            [
                "status.uncountedTerminatedPods.failed[1]",
                "status.conditions",
                "status.uncountedTerminatedPods",
                "status.conditions",
            ],
            id="job that failed and succeeded",
        ),
        pytest.param(
            BATCH + "jobs",
            _INDEXED,
            {"completedIndexes": "0-2", "failedIndexes": "2"},
            ["status.failedIndexes"],
            id="index that failed and succeeded",
        ),
        pytest.param(
            BATCH + "jobs",
            _SUSPENDED,
            {"completedIndexes": "1,1", "failedIndexes": "1"},
            [*("status.completedIndexes",) * 2, *("status.failedIndexes",) * 2],
            id="indexes of a job without",
        ),
        pytest.param(
            CORE + "persistentvolumeclaims",
            _CLAIM,
            {"capacity": {"storage": "-1"}, "allocatedResources": {"cpu": "1"}},
            ["status.capacity[storage]", "status.allocatedResources"],
            id="claim of less than nothing",
        ),
        pytest.param(
            CORE + "services",
            _SERVICE,
            {"loadBalancer": {"ingress": [{"hostname": "a.b"}]}},
            ["status.loadBalancer.ingress"],
            id="service without a load balancer",
        ),
        pytest.param(
            CORE + "services",
            _BALANCER,
            {"loadBalancer": {"ingress": [{"ip": "1.2.3", "hostname": "1.2.3.4"}]}},
            [
                "status.loadBalancer.ingress[0].ip",
                "status.loadBalancer.ingress[0].hostname",
            ],
            id="load balancer at no address",
        ),
        pytest.param(
            NETWORKING + "ingresses",
            _INGRESS,
            {"loadBalancer": {"ingress": [{"ip": "1.2.3"}]}},
            ["status.loadBalancer.ingress[0].ip"],
            id="ingress at no address",
        ),
        pytest.param(
            CORE + "resourcequotas",
            _QUOTA,
            {"used": {"pods": "500m"}},
            ["status.used[pods]"],
            id="half a pod is used",
        ),
    ],
)
def test_a_status_is_judged(
    cluster: Cluster, namespace: str, collection: str, body: Object, status: Object, fields: Any
) -> None:
    path = collection.format(namespace)
    cluster.post(path, body).ok()

    refused = cluster.patch(f"{path}/x/status", {"status": status})

    assert refused.status == 422
    assert [cause["field"] for cause in refused.body["details"]["causes"]] == fields


def test_a_job_that_has_ended_stays_so(cluster: Cluster, namespace: str) -> None:
    path = f"{BATCH.format(namespace)}jobs/x/status"
    cluster.post(f"{BATCH.format(namespace)}jobs", _SUSPENDED).ok()
    ended = {
        "failed": 1,
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [_ends("FailureTarget"), _ends("Failed")],
    }
    cluster.patch(path, {"status": ended}).ok()

    refused = cluster.patch(path, {"status": {"failed": 0, "conditions": []}})

    why = [cause["message"] for cause in refused.body["details"]["causes"]]
    assert why == [
        "Invalid value: cannot disable the terminal Failed=True condition",
        "Invalid value: cannot disable the terminal FailureTarget=True condition",
        "Invalid value: 0: cannot decrease the failed counter",
    ]


def test_a_namespace_tells_of_the_phase_it_is_in(cluster: Cluster, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/status"

    refused = cluster.patch(path, {"status": {"phase": "Terminating"}})

    assert refused.status == 422
    assert "may only be 'Active' if `deletionTimestamp` is empty" in refused.body["message"]


@pytest.mark.parametrize(
    ("collection", "body", "found"),
    [
        pytest.param(POLICY + "poddisruptionbudgets", a_budget("x"), 2, id="no rule"),
        pytest.param(APPS + "deployments", a_workload("Deployment", "x", replicas=0), 3, id="one"),
        pytest.param(CORE + "configmaps", a_config_map("x"), 4, id="both"),
        pytest.param(CORE + "pods", a_pod("x"), 4, id="both of pods"),
    ],
)
def test_faults_of_metadata_are_found_by_every_rule_that_looks(
    cluster: Cluster, namespace: str, collection: str, body: Object, found: int
) -> None:
    path = collection.format(namespace)
    cluster.post(path, body).ok()

    refused = cluster.patch(f"{path}/x", {"metadata": {"labels": {"a b": "c"}}}, STRATEGIC_PATCH)

    causes = [cause["field"] for cause in refused.body["details"]["causes"]]
    assert causes == ["metadata.labels"] * found


@pytest.mark.parametrize(
    ("suspended", "change", "answer"),
    [
        pytest.param(True, {"nodeSelector": {"a": "b"}}, 200, id="where a waiting job will run"),
        pytest.param(False, {"nodeSelector": {"a": "b"}}, 422, id="where a job runs"),
        pytest.param(True, {"dnsPolicy": "Default"}, 422, id="something else of a waiting job"),
    ],
)
def test_a_job_that_waits_may_be_told_where_to_run(
    cluster: Cluster, namespace: str, suspended: bool, change: Object, answer: int
) -> None:
    jobs = BATCH.format(namespace) + "jobs"
    cluster.post(jobs, a_job("x", suspend=suspended)).ok()

    changed = cluster.patch(f"{jobs}/x", {"spec": {"template": {"spec": change}}})

    assert changed.status == answer
