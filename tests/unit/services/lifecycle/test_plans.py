"""What becomes of plans: admitted once, refused where a premise is gone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.errors import NotReady, StaleRevision
from libs.domain.plan import Nomination, Plan, UnplacedPods
from libs.domain.reason import TargetKind, Unplaceable
from tests.unit.services.lifecycle.cluster import CLAIMS, POOLS, LifecycleCluster, in_a_cluster


def test_a_repeated_plan_gives_the_same_answer_and_creates_nothing() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        plan = cluster.plan(cluster.add_pod("waiting"))

        first = await cluster.client.apply_plan(plan)
        second = await cluster.client.apply_plan(plan)

        assert first == second
        assert len(cluster.all(CLAIMS)) == 1

    in_a_cluster(scenario)


def test_a_plan_repeated_to_a_new_process_gives_the_same_claim() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        plan = cluster.plan(cluster.add_pod("waiting"))
        first = await cluster.client.apply_plan(plan)

        await cluster.restart()
        second = await cluster.client.apply_plan(plan)

        assert first == second
        assert len(cluster.all(CLAIMS)) == 1

    in_a_cluster(scenario)


def test_a_plan_that_does_not_know_a_live_claim_is_stale() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("first")))
        other = cluster.plan(cluster.add_pod("second"), plan_id="plan-2", known=())

        with pytest.raises(StaleRevision, match="not known to the plan"):
            await cluster.client.apply_plan(other)

        assert len(cluster.all(CLAIMS)) == 1

    in_a_cluster(scenario)


def test_a_plan_of_a_past_term_is_refused() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        uid = cluster.add_pod("waiting")
        cluster.transitions = 7
        await cluster.client.apply_plan(cluster.plan(plan_id="newer"))
        cluster.transitions = 6

        with pytest.raises(StaleRevision, match="term 6 is over"):
            await cluster.client.apply_plan(cluster.plan(uid, plan_id="older"))

        assert cluster.all(CLAIMS) == []

    in_a_cluster(scenario)


def _pool_is_made_anew(cluster: LifecycleCluster) -> None:
    cluster.server.direct.delete(POOLS, "default")
    cluster.add_pool()


def _pool_goes(cluster: LifecycleCluster) -> None:
    cluster.server.direct.delete(POOLS, "default")


def _pool_changes(cluster: LifecycleCluster) -> None:
    labels = {"spec": {"template": {"metadata": {"labels": {"team": "blue"}}}}}
    cluster.server.direct.patch(POOLS, "default", labels)


def _pool_is_full(cluster: LifecycleCluster) -> None:
    cluster.server.direct.patch(POOLS, "default", {"spec": {"limits": {"cpu": "500m"}}})


def _pod_goes(cluster: LifecycleCluster) -> None:
    cluster.server.direct.delete("pods", "waiting", "default")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(_pool_goes, "does not exist", id="the pool is gone"),
        pytest.param(_pool_is_made_anew, "made anew", id="another pool has its name"),
        pytest.param(_pool_changes, "has changed", id="the pool's template changed"),
        pytest.param(_pool_is_full, "its limit is", id="the pool is full"),
        pytest.param(_pod_goes, "still waits", id="nobody waits any more"),
    ],
)
def test_a_claim_whose_premise_is_gone_is_refused(
    change: Callable[[LifecycleCluster], Any], why: str
) -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        plan = cluster.plan(cluster.add_pod("waiting"))
        change(cluster)
        await cluster.world.sleep(timedelta(seconds=5))

        result = await cluster.client.apply_plan(plan)

        assert result.created == ()
        assert why in result.refused[0].message
        assert cluster.all(CLAIMS) == []

    in_a_cluster(scenario)


def test_claims_of_one_plan_share_the_room_below_the_limit() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.server.direct.patch(POOLS, "default", {"spec": {"limits": {"cpu": "2"}}})
        await cluster.world.sleep(timedelta(seconds=2))
        plan = cluster.plan()
        claims = tuple(cluster.planned(cluster.add_pod(f"p{i}"), index=i) for i in range(3))

        result = await cluster.client.apply_plan(replace(plan, plan=Plan(nodeclaims=claims)))

        assert [one.index for one in result.created] == [0, 1]
        assert [one.index for one in result.refused] == [2]

    in_a_cluster(scenario)


def test_pods_are_told_where_they_are_expected_and_why_they_have_no_place() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        placed, unplaced, nominated = (cluster.add_pod(name) for name in "abc")
        plan = cluster.plan(placed)
        reason = Unplaceable(message="no pool has a GPU")
        whole = replace(
            plan.plan,
            unplaced=(UnplacedPods(pod_uids=(unplaced,), reason=reason),),
            nominations=(
                Nomination(target_kind=TargetKind.NODE, target="n", pod_uids=(nominated,)),
            ),
        )

        await cluster.client.apply_plan(replace(plan, plan=whole))
        await cluster.world.sleep(timedelta(seconds=1))

        told = {
            one["involvedObject"]["name"]: one["message"] for one in cluster.events("Nominated")
        }
        assert told["a"].startswith("Pod should schedule on: nodeclaim/default-")
        assert told["c"] == "Pod should schedule on: node/n"
        failed = cluster.events("FailedScheduling")
        assert [one["involvedObject"]["name"] for one in failed] == ["b"]
        assert "no pool has a GPU" in failed[0]["message"]

    in_a_cluster(scenario)


def test_nothing_is_bought_while_a_live_karpenter_holds_its_lease() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        plan = cluster.plan(cluster.add_pod("waiting"))
        cluster.add_karpenter_lease()
        await cluster.world.sleep(timedelta(seconds=6))

        with pytest.raises(NotReady, match="kube-system/karpenter-leader-election"):
            await cluster.client.apply_plan(plan)
        await cluster.world.sleep(timedelta(minutes=1))
        result = await cluster.client.apply_plan(plan)

        assert len(result.created) == 1

    in_a_cluster(scenario)
