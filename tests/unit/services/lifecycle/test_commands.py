"""What becomes of commands: refused on a lost premise, carried out once, taken back on failure."""

from datetime import timedelta

import pytest

from libs.domain.errors import StaleRevision
from libs.domain.execution import CommandState
from libs.domain.plan import Nomination, Plan
from libs.domain.reason import TargetKind
from tests.unit.services.lifecycle.cluster import CLAIMS, LifecycleCluster, in_a_cluster

QUIET = timedelta(seconds=30)
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


async def _quiet_node(cluster: LifecycleCluster) -> str:
    """Return the claim of a node that nothing is expected on any more."""
    await cluster.node_ready()
    await cluster.world.sleep(QUIET)
    return str(cluster.claim()["metadata"]["name"])


def _taints(cluster: LifecycleCluster, claim: str) -> list[dict[str, str]]:
    node = cluster.get("nodes", cluster.get(CLAIMS, claim)["status"]["nodeName"])
    return [dict(taint) for taint in node["spec"].get("taints") or []]


def test_a_replacement_is_initialized_before_its_candidate_goes() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        old = await _quiet_node(cluster)
        cluster.cloud.joins = False

        (new,) = await cluster.client.execute_command(cluster.command(old, replacements=1))
        await cluster.world.sleep(timedelta(minutes=2))
        assert _taints(cluster, old) == [DISRUPTED]
        assert "deletionTimestamp" not in cluster.get(CLAIMS, old)["metadata"]
        cluster.cloud.join_all()
        await cluster.until(lambda: len(cluster.all(CLAIMS)) == 1)

        assert cluster.claim()["metadata"]["name"] == new
        assert cluster.is_true("Initialized")

    in_a_cluster(scenario)


def test_a_repeated_command_is_started_once() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        command = cluster.command(await _quiet_node(cluster), replacements=1)
        cluster.cloud.joins = False

        first = await cluster.client.execute_command(command)
        second = await cluster.client.execute_command(command)
        await cluster.restart()
        third = await cluster.client.execute_command(command)

        assert first == second == third
        assert len(cluster.all(CLAIMS)) == 2

    in_a_cluster(scenario)


def test_a_command_whose_replacement_never_comes_is_taken_back() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        old = await _quiet_node(cluster)
        cluster.cloud.joins = False

        (new,) = await cluster.client.execute_command(cluster.command(old, replacements=1))
        await cluster.until(lambda: not _taints(cluster, old), within=timedelta(minutes=12))

        claim = cluster.get(CLAIMS, old)
        assert cluster.condition(claim, "DisruptionReason") == {}
        assert "joiner.io/command" not in claim["metadata"]["annotations"]
        assert "deletionTimestamp" not in claim["metadata"]
        assert new != old

    in_a_cluster(scenario)


def test_a_command_whose_replacement_is_deleted_is_taken_back_at_once() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        old = await _quiet_node(cluster)
        cluster.cloud.joins = False

        (new,) = await cluster.client.execute_command(cluster.command(old, replacements=1))
        cluster.server.direct.delete(CLAIMS, new)
        await cluster.until(lambda: not _taints(cluster, old), within=timedelta(minutes=1))

        assert [one["metadata"]["name"] for one in cluster.all(CLAIMS)] == [old]

    in_a_cluster(scenario)


def test_a_nominated_node_is_not_disrupted() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        name = await _quiet_node(cluster)
        command = cluster.command(name)
        nomination = Nomination(
            target_kind=TargetKind.NODE,
            target=command.command.candidates[0].node,
            pod_uids=(cluster.add_pod("coming"),),
        )
        plan = cluster.with_plan(cluster.plan(plan_id="plan-2"), Plan(nominations=(nomination,)))
        await cluster.client.apply_plan(plan)

        with pytest.raises(StaleRevision, match="is nominated until"):
            await cluster.client.execute_command(command)

        assert _taints(cluster, name) == []

    in_a_cluster(scenario)


def test_a_plan_that_nominates_a_node_under_a_command_is_stale() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        old = await _quiet_node(cluster)
        cluster.cloud.joins = False
        await cluster.client.execute_command(cluster.command(old, replacements=1))
        nomination = Nomination(
            target_kind=TargetKind.NODECLAIM, target=old, pod_uids=(cluster.add_pod("coming"),)
        )

        with pytest.raises(StaleRevision, match='under command "command-1"'):
            await cluster.client.apply_plan(
                cluster.with_plan(cluster.plan(plan_id="plan-2"), Plan(nominations=(nomination,)))
            )

    in_a_cluster(scenario)


def test_a_pod_that_the_decision_did_not_count_makes_it_stale() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        name = await _quiet_node(cluster)
        command = cluster.command(name)
        cluster.add_pod("new", node=command.command.candidates[0].node)
        await cluster.world.sleep(timedelta(seconds=1))

        with pytest.raises(StaleRevision, match="got 1 pods since"):
            await cluster.client.execute_command(command)

    in_a_cluster(scenario)


def test_a_budget_that_does_not_hold_makes_a_command_stale() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        name = await _quiet_node(cluster)
        cluster.set_budget("0")
        await cluster.world.sleep(timedelta(seconds=1))

        with pytest.raises(StaleRevision, match="allows 0 more disruptions"):
            await cluster.client.execute_command(cluster.command(name))

    in_a_cluster(scenario)


def test_the_states_of_a_command_are_streamed() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        command = cluster.command(await _quiet_node(cluster))
        await cluster.client.execute_command(command)
        states = []

        async for progress in cluster.client.watch_commands():
            states.append(progress.state)
            if progress.state is CommandState.DONE:
                break

        assert states == [CommandState.WAITING, CommandState.DELETING, CommandState.DONE]

    in_a_cluster(scenario)
