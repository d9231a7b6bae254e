"""Two of everything: one acts, the other stands by, and takes over while pods come and go.

Ten pods come two by two, each pair fills a node; so however a hand-over delays or joins decisions,
five nodes are right. The leader dies, is stopped, or loses its line to Kubernetes, once while pods
come and once while they go.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from tests.support.cluster import Cluster, a_cluster, service_of
from tests.support.mutations import Instant

ELECTED = ("watcher", "lifecycle", "disruption")
WAVES = tuple(f"wave-{number}" for number in range(5))

_AWAY = timedelta(seconds=5)
"""Longer than a standby takes to look at the lease."""
_CUT_FOR = timedelta(seconds=40)

HandOver = Callable[[Cluster, str], Coroutine[Any, Any, None]]


async def dies(cluster: Cluster, leader: str) -> None:
    cluster.strike(leader, back_after=_AWAY)


async def is_stopped(cluster: Cluster, leader: str) -> None:
    await cluster.world.stop(leader)
    await cluster.world.sleep(_AWAY)
    await cluster.start(leader)


async def is_cut_off(cluster: Cluster, leader: str) -> None:
    cluster.lines[leader].cut()
    await cluster.world.sleep(_CUT_FOR)
    cluster.lines[leader].cut(False)


@pytest.mark.parametrize("hand_over", [dies, is_stopped, is_cut_off])
@pytest.mark.parametrize("service", ELECTED)
def test_a_hand_over_doubles_nothing_and_leaves_nothing(service: str, hand_over: HandOver) -> None:
    async def scenario(cluster: Cluster) -> None:
        usurpers = note_usurpers(cluster)
        cluster.add_pool()
        first = cluster.leader(service)

        await beside(cluster, pods_come(cluster), hand_over(cluster, first))
        await cluster.until(lambda: cluster.run(2 * len(WAVES)) and cluster.is_settled())
        await cluster.until(lambda: cluster.leader(service))
        second = cluster.leader(service)
        await beside(cluster, pods_go(cluster), hand_over(cluster, second))
        await cluster.until(cluster.is_empty)

        assert {first, second} == set(cluster.replicas(service))
        assert usurpers == []
        history = cluster.history()
        assert len(history.claims) == len(history.nodes) == len(WAVES)
        assert set(history.pods_of) == set(history.nodes)
        cluster.remove_pool()
        await cluster.until(lambda: not cluster.left_behind())

    with_two_of_each(scenario)


def test_two_solvers_share_the_work_and_either_may_die() -> None:
    async def scenario(cluster: Cluster) -> None:
        cluster.add_pool()

        await beside(cluster, pods_come(cluster), dies(cluster, "solver-1"))
        await cluster.until(lambda: cluster.run(2 * len(WAVES)) and cluster.is_settled())
        await beside(cluster, pods_go(cluster), dies(cluster, "solver-2"))
        await cluster.until(cluster.is_empty)

        assert len(cluster.history().claims) == len(WAVES)

    with_two_of_each(scenario)


async def pods_come(cluster: Cluster) -> None:
    for wave in WAVES:
        cluster.scale(wave, 2)
        await cluster.world.sleep(timedelta(seconds=3))


async def pods_go(cluster: Cluster) -> None:
    for wave in WAVES:
        cluster.scale(wave, 0)
        await cluster.world.sleep(timedelta(seconds=10))


async def beside(
    cluster: Cluster, load: Coroutine[Any, Any, None], hand_over: Awaitable[None]
) -> None:
    """Let the load begin, and in the middle of it the hand-over."""
    async with asyncio.TaskGroup() as group:
        group.create_task(load, name="load")
        await cluster.world.sleep(timedelta(seconds=4))
        await hand_over


def note_usurpers(cluster: Cluster) -> list[str]:
    """Note whoever changes something without holding its service's lease."""
    found: list[str] = []

    def step_in(instant: Instant, process: str) -> None:
        service = service_of(process)
        mutation = cluster.mutations.made[instant.position]
        if service not in ELECTED or instant.after or "/leases" in mutation.what:
            return
        if cluster.leader(service) != process:
            found.append(f"{cluster.world.clock.monotonic()} s: {mutation}")

    cluster.mutations.steps_in = step_in
    return found


def with_two_of_each(scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def run() -> None:
        async with a_cluster() as cluster:
            await cluster.start_all(dict.fromkeys((*ELECTED, "solver"), 2))
            await cluster.until(lambda: all(map(cluster.leader, ELECTED)))
            await scenario(cluster)

    run_virtual(run(), limit=timedelta(hours=2))
