"""PodDisruptionBudgets and evictions on a living cluster."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.api.errors import ApiError
from tests.unit.services.simulator.living import Living, a_node, a_workload, living

BUDGETS = "poddisruptionbudgets.policy"


def a_budget(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "expected", "desired", "allowed"),
    [
        pytest.param({"minAvailable": 3}, 4, 3, 1, id="at least a number"),
        pytest.param({"minAvailable": "60%"}, 4, 3, 1, id="at least a share, rounded up"),
        pytest.param({"maxUnavailable": 2}, 4, 2, 2, id="at most a number"),
        pytest.param({"maxUnavailable": "30%"}, 4, 2, 2, id="at most a share, rounded up"),
        pytest.param({"minAvailable": 5}, 4, 5, 0, id="more than there are"),
    ],
)
def test_the_status_counts(spec: dict[str, Any], expected: int, desired: int, allowed: int) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("deployments.apps", a_workload("web", replicas=4), "default")
            cluster.api.create(BUDGETS, a_budget(**spec), "default")
            await cluster.until(lambda: len(cluster.running()) == 4)
            await cluster.after(0.1)

            status = cluster.status(BUDGETS, "web")

            counts = ("expectedPods", "desiredHealthy", "disruptionsAllowed", "currentHealthy")
            assert [status[count] for count in counts] == [expected, desired, allowed, 4]
            assert status["observedGeneration"] == 1

    run_virtual(scenario())


def evict(cluster: Living, pod: dict[str, Any]) -> bool:
    try:
        cluster.api.evict(pod["metadata"]["name"], "default")
    except ApiError as refusal:
        if refusal.code != 429:
            raise
        return False
    return True


def test_a_drain_by_evictions_never_takes_more_than_the_budget_allows() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            for name in ("n1", "n2"):
                cluster.api.create("nodes", a_node(name))
            cluster.api.create("deployments.apps", a_workload("web", replicas=4), "default")
            cluster.api.create(BUDGETS, a_budget(maxUnavailable=1), "default")
            await cluster.until(lambda: len(cluster.running()) == 4)
            cluster.api.patch("nodes", "n1", {"spec": {"unschedulable": True}})
            refused, fewest = 0, 4

            def drained() -> bool:
                nonlocal refused, fewest
                there = [p for p in cluster.pods() if p["spec"].get("nodeName") == "n1"]
                for pod in there:
                    if "deletionTimestamp" not in pod["metadata"]:
                        refused += not evict(cluster, pod)
                ready = [p for p in cluster.running() if "deletionTimestamp" not in p["metadata"]]
                fewest = min(fewest, len(ready))
                return not there

            await cluster.until(drained)

            assert refused
            assert fewest == 3
            await cluster.until(lambda: len(cluster.running()) == 4)
            assert {pod["spec"]["nodeName"] for pod in cluster.pods()} == {"n2"}

    run_virtual(scenario())


def test_pods_of_a_controller_without_replicas_cannot_be_counted_by_shares() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create("daemonsets.apps", a_workload("web"), "default")
            cluster.api.create(BUDGETS, a_budget(maxUnavailable=1), "default")
            await cluster.until(cluster.running)
            await cluster.after(0.1)

            status = cluster.status(BUDGETS, "web")

            assert status["disruptionsAllowed"] == 0
            assert status["conditions"][0]["reason"] == "SyncFailed"

    run_virtual(scenario())
