"""Eviction under budgets: allowed, refused with its causes, refused for good."""

import pytest

from tests.conformance.cluster import Cluster
from tests.conformance.objects import Object, a_budget, a_pod, metadata
from tests.conformance.targets import CONTROLLERS

EVICTION = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata("p")}


@pytest.fixture
def pods(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


@pytest.fixture
def budgets(namespace: str) -> str:
    return f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"


def run_pod(cluster: Cluster, pods: str, name: str = "p") -> None:
    """Create a pod that runs and is ready, as its kubelet would report it."""
    cluster.post(pods, a_pod(name, terminationGracePeriodSeconds=0)).ok()
    ready = {"type": "Ready", "status": "True"}
    status = {"phase": "Running", "conditions": [ready]}
    cluster.patch(f"{pods}/{name}/status", {"status": status}).ok()


def test_a_pod_without_a_budget_is_evicted(cluster: Cluster, pods: str) -> None:
    run_pod(cluster, pods)

    answer = cluster.post(f"{pods}/p/eviction", EVICTION)

    assert (answer.status, answer.body["status"]) == (201, "Success")
    cluster.until_gone(f"{pods}/p")


@pytest.mark.needs(CONTROLLERS)
def test_a_budget_without_room_answers_429_with_its_cause(
    cluster: Cluster, pods: str, budgets: str
) -> None:
    run_pod(cluster, pods)
    cluster.post(budgets, a_budget(minAvailable=1)).ok()
    cluster.until(f"{budgets}/b", lambda found: has(found, currentHealthy=1, expectedPods=1))

    answer = cluster.post(f"{pods}/p/eviction", EVICTION)

    assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert answer.body["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
        }
    ]


@pytest.mark.needs(CONTROLLERS)
def test_each_eviction_takes_from_the_budget(cluster: Cluster, pods: str, budgets: str) -> None:
    for name in ("p", "q"):
        run_pod(cluster, pods, name)
    cluster.post(budgets, a_budget(minAvailable=1)).ok()
    cluster.until(f"{budgets}/b", lambda found: has(found, disruptionsAllowed=1))

    assert cluster.post(f"{pods}/p/eviction", EVICTION).status == 201
    second = cluster.post(f"{pods}/q/eviction", {**EVICTION, "metadata": metadata("q")})
    assert second.status == 429


@pytest.mark.needs(CONTROLLERS)
def test_two_budgets_of_a_pod_are_an_error(cluster: Cluster, pods: str, budgets: str) -> None:
    run_pod(cluster, pods)
    for name in ("b", "c"):
        cluster.post(budgets, a_budget(name, maxUnavailable=1)).ok()

    answer = cluster.post(f"{pods}/p/eviction", EVICTION)

    assert answer.status == 500
    assert answer.message == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support."
    )


def test_a_pending_pod_is_evicted_whatever_the_budget(
    cluster: Cluster, pods: str, budgets: str
) -> None:
    cluster.post(budgets, a_budget(minAvailable=1)).ok()
    cluster.post(pods, a_pod(schedulerName="nobody")).ok()

    assert cluster.post(f"{pods}/p/eviction", EVICTION).status == 201


def test_a_dry_run_evicts_nothing(cluster: Cluster, pods: str) -> None:
    run_pod(cluster, pods)

    assert cluster.post(f"{pods}/p/eviction", EVICTION, dryRun="All").status == 201
    assert "deletionTimestamp" not in cluster.get(f"{pods}/p").ok()["metadata"]


def test_an_eviction_of_nobody_is_not_found(cluster: Cluster, pods: str) -> None:
    assert cluster.post(f"{pods}/p/eviction", EVICTION).status == 404


def has(budget: Object, **counts: int) -> bool:
    """Tell whether the budget's controller has seen this many pods."""
    status = budget.get("status") or {}
    return all(status.get(name) == count for name, count in counts.items())
