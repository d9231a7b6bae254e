"""From a plan to a node to nothing, on an API server and a fake cloud in simulated time."""

from datetime import timedelta

from tests.unit.services.lifecycle.cluster import CLAIMS, POOLS, LifecycleCluster, in_a_cluster


def test_a_plan_becomes_an_initialized_node() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        uid = cluster.add_pod("waiting")

        result = await cluster.client.apply_plan(cluster.plan(uid))
        await cluster.until(lambda: cluster.is_true("Initialized"))

        claim = cluster.claim()
        node = cluster.get("nodes", claim["status"]["nodeName"])
        assert [one.name for one in result.created] == [claim["metadata"]["name"]]
        assert claim["status"]["providerID"] == node["spec"]["providerID"]
        assert cluster.condition(claim, "Ready")["status"] == "True"
        assert node["metadata"]["labels"]["karpenter.sh/nodepool"] == "default"
        assert node["metadata"]["labels"]["karpenter.sh/initialized"] == "true"
        assert node["metadata"]["finalizers"] == ["karpenter.sh/termination"]
        assert node["metadata"]["ownerReferences"][0]["uid"] == claim["metadata"]["uid"]
        assert "taints" not in node["spec"]

    in_a_cluster(scenario)


def test_a_deleted_claim_drains_its_node_and_ends_its_instance() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        claim = cluster.claim()
        cluster.add_pod("running", node=claim["status"]["nodeName"])

        cluster.server.direct.delete(CLAIMS, claim["metadata"]["name"])
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert cluster.all("nodes") == []
        assert cluster.cloud.instances == {}
        assert [pod["metadata"]["name"] for pod in cluster.all("pods")] == ["waiting"]

    in_a_cluster(scenario)


def test_an_empty_node_goes_by_a_command() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        await cluster.world.sleep(timedelta(seconds=30))
        name = cluster.claim()["metadata"]["name"]

        replacements = await cluster.client.execute_command(cluster.command(name))
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert replacements == ()
        assert cluster.all("nodes") == []
        assert cluster.events("DisruptionTerminating")

    in_a_cluster(scenario)


def test_a_pool_says_that_it_is_ready_and_what_it_uses() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        await cluster.world.sleep(timedelta(seconds=10))

        status = cluster.get(POOLS, "default")["status"]

        assert status["nodes"] == 1
        assert status["resources"]["cpu"] == "4"
        assert cluster.condition(cluster.get(POOLS, "default"), "Ready")["status"] == "True"

    in_a_cluster(scenario)
