"""Everybody dies, again and again, at instants that a seed chooses; the story ends well even so.

Where deaths between two given mutations are tested one by one (`test_kills.py`), here they overlap.
"""

import asyncio
from datetime import timedelta

import pytest

from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from tests.integration.story import has_come_right, live
from tests.support.cluster import Cluster, a_cluster

DEATHS = 15


@pytest.mark.parametrize("seed", range(8))
def test_a_story_of_many_deaths_ends_well(seed: int) -> None:
    async def scenario() -> None:
        async with a_cluster() as cluster:
            await cluster.start_all()
            async with asyncio.TaskGroup() as group:
                group.create_task(kill_many(cluster, Random(seed)), name="deaths")
                group.create_task(live(cluster), name="story")
            has_come_right(cluster)

    run_virtual(scenario(), limit=timedelta(hours=1))


async def kill_many(cluster: Cluster, random: Random) -> None:
    for _ in range(DEATHS):
        await cluster.world.sleep(timedelta(seconds=random.uniform(0, 12)))
        running = sorted(cluster.world.services)
        if running:
            back_after = timedelta(seconds=random.uniform(0, 20))
            cluster.strike(random.choice(running), back_after=back_after)
