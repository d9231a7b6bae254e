"""Lifecycle is killed before every mutation; whoever comes next ends the work right.

Being killed after a mutation, its answer lost, is being killed before the next one.

The life that is cut short: a plan for one pod, its node, a command that replaces the node, the end
of both claims. What must hold whatever was cut: one claim per order, one launch per claim, nothing
left in the cloud, no stranded taint.
"""

from collections import defaultdict
from datetime import timedelta

import pytest

from libs.domain.errors import JoinerError, StaleRevision
from libs.domain.execution import ApplyRequest, CommandRequest
from libs.runtime.virtual import run_virtual
from tests.unit.services.lifecycle.cluster import CLAIMS, LifecycleCluster, a_cluster

_MUTATIONS = 40
"""Of the whole life, those of pools and classes at the start left out."""


async def _live(cluster: LifecycleCluster) -> None:
    await _apply(cluster, cluster.plan(cluster.add_pod("waiting")))
    await _until(cluster, lambda: cluster.is_true("Initialized"))
    await _idle(cluster, timedelta(seconds=30))
    old = cluster.claim()["metadata"]["name"]
    await _execute(cluster, cluster.command(old, replacements=1))
    await _until(cluster, cluster.settled)
    for claim in cluster.all(CLAIMS):
        cluster.server.direct.delete(CLAIMS, claim["metadata"]["name"])
    await _until(cluster, lambda: not cluster.all(CLAIMS))


async def _apply(cluster: LifecycleCluster, plan: ApplyRequest) -> None:
    """Send a plan until it is answered, as the watcher does."""
    while True:
        try:
            await cluster.client.apply_plan(plan)
        except JoinerError:
            await _revive(cluster)
        else:
            return


async def _execute(cluster: LifecycleCluster, command: CommandRequest) -> None:
    """Send a command until it is answered; one that was taken back meanwhile is stale."""
    while True:
        try:
            await cluster.client.execute_command(command)
        except StaleRevision:
            return
        except JoinerError:
            await _revive(cluster)
        else:
            return


async def _until(cluster: LifecycleCluster, condition: object) -> None:
    assert callable(condition)
    limit = cluster.world.clock.now() + timedelta(minutes=30)
    while not condition():
        assert cluster.world.clock.now() < limit
        await _idle(cluster, timedelta(milliseconds=500))


async def _idle(cluster: LifecycleCluster, span: timedelta) -> None:
    await cluster.world.sleep(span)
    await _revive(cluster)


async def _revive(cluster: LifecycleCluster) -> None:
    if cluster.dead:
        await cluster.restart()
    else:
        await cluster.world.sleep(timedelta(milliseconds=100))


def _check(cluster: LifecycleCluster) -> None:
    batches = defaultdict(set)
    for launch in cluster.cloud.launches:
        for claim in launch.claims:
            batches[claim.uid].add(launch.batch_id)
    assert all(len(ids) == 1 for ids in batches.values())
    assert len(batches) in (1, 2), "one claim, and one replacement unless the command was lost"
    assert cluster.cloud.instances == {}
    assert cluster.all("nodes") == []


@pytest.mark.parametrize("number", range(1, _MUTATIONS + 1))
def test_a_process_killed_before_any_mutation_leaves_nothing_behind(number: int) -> None:
    async def scenario() -> None:
        async with a_cluster() as cluster:
            await cluster.start()
            cluster.kill_at(number)
            await _live(cluster)
            _check(cluster)

    run_virtual(scenario(), limit=timedelta(hours=3))


def test_the_life_has_as_many_mutations_as_are_cut_short() -> None:
    async def scenario() -> None:
        async with a_cluster() as cluster:
            await cluster.start()
            cluster.kill_at(0)
            await _live(cluster)
            _check(cluster)
            assert cluster.mutations == _MUTATIONS, "cut short every one, and no more"

    run_virtual(scenario(), limit=timedelta(hours=3))
