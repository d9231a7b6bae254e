"""The whole loop: pods wait, nodes are bought, pods run; pods go, and so do the nodes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from libs.runtime.authorization import LOCAL
from libs.runtime.virtual import run_virtual
from tests.integration.story import NODES, in_a_cluster, live, scale_down, scale_up
from tests.support.cluster import SETTINGS, Cluster, a_cluster
from tests.support.objects import CLAIMS
from tests.support.sockets import SocketNetwork, run_hurried


def test_nodes_come_with_pods_and_go_with_them() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        await cluster.passed(20)
        assert cluster.all(CLAIMS) == []

        await scale_up(cluster)
        assert len(cluster.all(CLAIMS)) == len(cluster.all("nodes")) == NODES

        await scale_down(cluster)
        cluster.remove_pool()
        await cluster.passed(10)
        assert cluster.left_behind() == []

    in_a_cluster(scenario)


def test_pods_that_fit_on_a_node_buy_none() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        cluster.scale("web", 3)
        await cluster.until(lambda: cluster.run(3) and cluster.is_settled())

        cluster.scale("late", 1)
        await cluster.until(lambda: cluster.run(4))
        await cluster.passed(60)

        assert len(cluster.history().claims) == 2

    in_a_cluster(scenario)


def test_pods_that_never_fit_are_told_why_and_buy_nothing() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()
        cluster.scale("huge", 1, cpu="100")
        cluster.scale("web", 2)

        await cluster.until(lambda: cluster.is_settled() and len(cluster.all("nodes")) == 1)
        await cluster.passed(60)

        assert len(cluster.history().claims) == 1
        told = [one for one in cluster.all("events") if one["source"].get("component") == "joiner"]
        huge = [one for one in told if one["involvedObject"]["name"].startswith("huge")]
        assert ["lower the request of cpu by 96100m" in one["message"] for one in huge] == [True]

    in_a_cluster(scenario)


@pytest.mark.integration
def test_sockets_decide_as_memory_does() -> None:
    async def in_memory() -> Decided:
        async with a_cluster() as cluster:
            return await decided(cluster)

    async def over_sockets() -> Decided:
        async with a_cluster(network=SocketNetwork()) as cluster:
            for service in ("solver", "disruption"):  # nobody can be told apart without TLS
                cluster.settings[service] = replace(SETTINGS[service], watcher_identity=LOCAL)
            return await decided(cluster)

    assert run_hurried(over_sockets()) == run_virtual(in_memory())


Decided = Counter[tuple[str, ...]]
"""How often which workloads' pods share a node."""


async def decided(cluster: Cluster) -> Decided:
    await cluster.start_all()
    await live(cluster)
    return shared_nodes(cluster.history().pods_of)


def shared_nodes(pods_of: Mapping[str, frozenset[str]]) -> Decided:
    return Counter(
        tuple(sorted(pod.partition("-")[0] for pod in pods)) for pods in pods_of.values()
    )
