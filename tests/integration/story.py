"""The story that all tests of the loop tell: two waves of pods come and go, then the pool goes.

web    4 pods   2 nodes
batch  2 pods   1 node more, because the others are full
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from libs.runtime.virtual import run_virtual
from tests.support.cluster import Cluster, a_cluster

NODES = 3
"""What an undisturbed run buys."""


async def live(cluster: Cluster) -> None:
    """Tell the whole story."""
    cluster.add_pool()
    await scale_up(cluster)
    await scale_down(cluster)
    await put_away(cluster)


async def scale_up(cluster: Cluster) -> None:
    cluster.scale("web", 4)
    await cluster.until(lambda: cluster.run(4) and cluster.is_settled())
    cluster.scale("batch", 2)
    await cluster.until(lambda: cluster.run(6) and cluster.is_settled())


async def scale_down(cluster: Cluster) -> None:
    cluster.scale("batch", 0)
    await cluster.until(lambda: cluster.run(4) and len(cluster.all("nodes")) == NODES - 1)
    cluster.scale("web", 0)
    await cluster.until(cluster.is_empty)


async def put_away(cluster: Cluster) -> None:
    cluster.remove_pool()
    await cluster.until(lambda: not cluster.left_behind())


def has_come_right(cluster: Cluster) -> None:
    """Assert that what was bought is what an undisturbed run buys, each node for a purpose."""
    history = cluster.history()
    assert len(history.claims) == NODES
    assert len(history.nodes) == NODES
    assert set(history.pods_of) == set(history.nodes)
    assert cluster.left_behind() == []


def in_a_cluster(scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    """Run a scenario with every service up, in simulated time."""

    async def run() -> None:
        async with a_cluster() as cluster:
            await cluster.start_all()
            await scenario(cluster)

    run_virtual(run(), limit=timedelta(hours=2))
