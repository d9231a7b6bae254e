"""How nodes are drained: budgets refuse, protected pods hold, deadlines force."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.errors import StaleRevision
from libs.domain.execution import Eviction
from tests.unit.services.lifecycle.cluster import CLAIMS, LifecycleCluster, in_a_cluster

MINUTE = timedelta(minutes=1)


def _names(cluster: LifecycleCluster) -> list[str]:
    return [pod["metadata"]["name"] for pod in cluster.all("pods")]


async def _node_with(cluster: LifecycleCluster, name: str, **metadata: Any) -> None:
    """Make a node with one pod on it and delete its claim."""
    await cluster.node_ready()
    claim = cluster.claim()
    cluster.add_pod(name, node=claim["status"]["nodeName"], **metadata)
    cluster.server.direct.delete(CLAIMS, claim["metadata"]["name"])


def test_a_protected_pod_holds_its_node_without_end() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        annotations = {"karpenter.sh/do-not-disrupt": "true"}
        await _node_with(cluster, "precious", annotations=annotations)
        await cluster.world.sleep(timedelta(minutes=20))

        assert "precious" in _names(cluster)
        assert cluster.condition(cluster.claim(), "Drained")["reason"] == "Draining"

        cluster.server.direct.delete("pods", "precious", "default")
        await cluster.until(lambda: not cluster.all(CLAIMS))

    in_a_cluster(scenario)


def test_a_deadline_ends_protection() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.set_template(terminationGracePeriod="10m")
        await cluster.world.sleep(timedelta(seconds=2))
        annotations = {"karpenter.sh/do-not-disrupt": "true"}
        began = cluster.world.clock.now()

        await _node_with(cluster, "precious", annotations=annotations)
        await cluster.until(lambda: not cluster.all(CLAIMS), within=timedelta(hours=1))

        lasted = cluster.world.clock.now() - began
        assert timedelta(minutes=9) < lasted < timedelta(minutes=11)
        assert cluster.events("Disrupted")
        assert cluster.events("TerminationGracePeriodExpiring")

    in_a_cluster(scenario)


def test_a_budget_of_pods_delays_a_drain() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.add_pdb("guard", app="web", maxUnavailable=0)
        await _node_with(cluster, "guarded", labels={"app": "web"})
        await cluster.world.sleep(timedelta(minutes=5))
        assert "guarded" in _names(cluster)
        assert cluster.events("FailedDraining")

        cluster.server.direct.delete("poddisruptionbudgets.policy", "guard", "default")
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert "guarded" not in _names(cluster)

    in_a_cluster(scenario)


def test_a_node_whose_instance_vanished_is_let_go_without_a_drain() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        claim = cluster.claim()
        node = claim["status"]["nodeName"]
        cluster.add_pod("stranded", node=node, annotations={"karpenter.sh/do-not-disrupt": "true"})
        cluster.set_ready(node, "Unknown")
        cluster.cloud.instances.clear()

        cluster.server.direct.delete(CLAIMS, claim["metadata"]["name"])
        await cluster.until(lambda: not cluster.all(CLAIMS), within=MINUTE)

        assert cluster.all("nodes") == []

    in_a_cluster(scenario)


def test_a_deleted_node_takes_its_claim_with_it() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()

        cluster.server.direct.delete("nodes", cluster.claim()["status"]["nodeName"])
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert cluster.all("nodes") == []
        assert cluster.cloud.instances == {}

    in_a_cluster(scenario)


def test_a_pod_is_evicted_for_others_if_it_is_the_one_that_was_meant() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        uid = cluster.add_pod("running", node=cluster.claim()["status"]["nodeName"])
        await cluster.world.sleep(timedelta(seconds=1))
        meant = Eviction(namespace="default", name="running", uid=uid, reason="Resize")

        with pytest.raises(StaleRevision, match="another pod"):
            await cluster.client.evict(replace(meant, uid="other"))
        await cluster.client.evict(meant)
        await cluster.until(lambda: "running" not in _names(cluster))

        assert "Resize" in cluster.events("Evicted")[0]["message"]

    in_a_cluster(scenario)
