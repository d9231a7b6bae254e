"""Decisions that come twice, too late or from a past term: refused, or without effect.

Each test lets the loop decide something, catches the message, and sends it to the same lifecycle
again, changed as little as the case asks for.
"""

from dataclasses import replace

import pytest

from libs.clients.lifecycle import LifecycleClient
from libs.domain.errors import InvalidRequest, StaleRevision
from libs.domain.execution import ApplyRequest, CommandRequest
from libs.domain.snapshot import Epoch, SnapshotId
from libs.wire.execution import decode_apply_request, decode_command_request
from tests.integration.story import in_a_cluster
from tests.support.cluster import Cluster
from tests.support.objects import CLAIMS, POOLS


class TestPlans:
    def test_a_repeated_plan_gives_the_same_answer_and_buys_nothing(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)

            answers = [await client(cluster).apply_plan(plan) for _ in range(3)]

            assert {tuple(sorted(one.name for one in each.created)) for each in answers} == {known}
            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)

    def test_a_repeated_plan_buys_nothing_after_lifecycle_was_replaced(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)
            await cluster.world.kill("lifecycle-1")
            await cluster.start("lifecycle-1")
            await cluster.passed(30)

            answer = await client(cluster).apply_plan(plan)

            assert tuple(sorted(one.name for one in answer.created)) == known
            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)

    def test_a_plan_that_did_not_know_a_live_claim_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)

            with pytest.raises(StaleRevision, match=r"2 nodeclaims were not known to the plan"):
                await client(cluster).apply_plan(replace(plan, plan_id="another"))

            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)

    def test_a_plan_for_pods_that_run_by_now_buys_nothing(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)

            late = replace(plan, plan_id="late", known_nodeclaim_uids=uids(cluster))
            answer = await client(cluster).apply_plan(late)

            assert answer.created == ()
            assert len(answer.refused) == 2
            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)

    def test_a_plan_on_a_pool_that_has_changed_since_buys_nothing(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)
            await cluster.world.kill("watcher-1")  # so that nobody decides anew
            cluster.scale("more", 2)
            change = {"spec": {"template": {"metadata": {"labels": {"team": "b"}}}}}
            cluster.api.patch(POOLS, "default", change)
            await cluster.passed(5)

            waiting = tuple(
                one["metadata"]["uid"]
                for one in cluster.all("pods")
                if one["metadata"]["name"].startswith("more")
            )
            claims = tuple(replace(one, pod_uids=waiting) for one in plan.plan.nodeclaims)
            late = replace(
                plan,
                plan_id="late",
                known_nodeclaim_uids=uids(cluster),
                plan=replace(plan.plan, nodeclaims=claims, nominations=()),
            )
            answer = await client(cluster).apply_plan(late)

            assert answer.created == ()
            assert len(answer.refused) == 2
            assert names(cluster) == known

        in_a_cluster(scenario)

    def test_a_plan_of_a_past_term_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            await another_watcher_takes_over(cluster)
            known = names(cluster)

            late = replace(plan, plan_id="late", known_nodeclaim_uids=uids(cluster))
            with pytest.raises(StaleRevision, match="term 0 is over"):
                await client(cluster).apply_plan(late)

            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)

    def test_a_plan_for_another_cluster_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            plan = await bought_for(cluster, "web", 4)
            known = names(cluster)
            abroad = SnapshotId(
                cluster_id="abroad",
                epoch=Epoch(lease_transitions=99, boot_id="x"),
                revision=1,
            )

            with pytest.raises(InvalidRequest, match="abroad"):
                await client(cluster).apply_plan(replace(plan, plan_id="x", snapshot=abroad))

            await nothing_more_than(cluster, known)

        in_a_cluster(scenario)


class TestCommands:
    def test_a_repeated_command_disrupts_nothing_more(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            command = await emptied(cluster)
            left = names(cluster)

            await client(cluster).execute_command(command)

            await nothing_more_than(cluster, left)

        in_a_cluster(scenario)

    def test_a_command_on_nodes_that_are_gone_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            command = await emptied(cluster)
            left = names(cluster)

            with pytest.raises(StaleRevision):
                await client(cluster).execute_command(renamed(command))

            await nothing_more_than(cluster, left)

        in_a_cluster(scenario)

    def test_a_command_of_a_past_term_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            command = await emptied(cluster)
            await another_watcher_takes_over(cluster)
            left = names(cluster)

            with pytest.raises(StaleRevision, match="term 0 is over"):
                await client(cluster).execute_command(renamed(command))

            await nothing_more_than(cluster, left)

        in_a_cluster(scenario)

    def test_a_command_on_a_node_that_has_pods_again_is_refused(self) -> None:
        async def scenario(cluster: Cluster) -> None:
            command = await emptied(cluster)
            left = names(cluster)

            with pytest.raises(StaleRevision):
                await client(cluster).execute_command(aimed_at(command, cluster, left[0]))

            await nothing_more_than(cluster, left)

        in_a_cluster(scenario)


async def bought_for(cluster: Cluster, workload: str, pods: int) -> ApplyRequest:
    """Let pods get their nodes and return the plan that brought them."""
    cluster.add_pool()
    cluster.scale(workload, pods)
    await cluster.until(lambda: cluster.run(pods) and cluster.is_settled())
    return decode_apply_request(cluster.mutations.messages("ApplyPlan")[-1])


async def emptied(cluster: Cluster) -> CommandRequest:
    """Let one of three nodes become empty and go, and return the command that removed it."""
    await bought_for(cluster, "web", 4)
    cluster.scale("batch", 2)
    await cluster.until(lambda: cluster.run(6) and cluster.is_settled())
    cluster.scale("batch", 0)
    await cluster.until(lambda: len(cluster.all("nodes")) == 2 and cluster.is_settled())
    return decode_command_request(cluster.mutations.messages("ExecuteCommand")[-1])


async def another_watcher_takes_over(cluster: Cluster) -> None:
    """Let a new watcher lead and have a plan of its own applied."""
    await cluster.world.kill("watcher-1")
    await cluster.start("watcher-1")
    pods = len(cluster.all("pods"))
    cluster.scale("after", 2)
    await cluster.until(lambda: cluster.run(pods + 2) and cluster.is_settled())


async def nothing_more_than(cluster: Cluster, known: tuple[str, ...]) -> None:
    """Assert that in the next minute there are the same claims, undisturbed."""
    await cluster.passed(60)
    assert names(cluster) == known
    assert cluster.is_settled()


def renamed(command: CommandRequest) -> CommandRequest:
    return replace(command, command=replace(command.command, id="another"))


def aimed_at(command: CommandRequest, cluster: Cluster, claim: str) -> CommandRequest:
    found = cluster.api.get(CLAIMS, claim)
    candidate = replace(
        command.command.candidates[0],
        nodeclaim=claim,
        nodeclaim_uid=found["metadata"]["uid"],
        node=found["status"]["nodeName"],
    )
    changed = replace(command.command, id="another", candidates=(candidate,))
    return replace(command, command=changed)


def names(cluster: Cluster) -> tuple[str, ...]:
    return tuple(sorted(one["metadata"]["name"] for one in cluster.all(CLAIMS)))


def uids(cluster: Cluster) -> tuple[str, ...]:
    return tuple(sorted(one["metadata"]["uid"] for one in cluster.all(CLAIMS)))


def client(cluster: Cluster) -> LifecycleClient:
    return LifecycleClient(cluster.world.network.seen_by("watcher").channel("lifecycle-1:1"))
