"""What becomes of claims whose launch fails, or whose node never comes."""

from datetime import timedelta

import pytest

from libs.domain.errors import Unavailable
from libs.domain.plan import Plan
from libs.domain.provider import LaunchFailure, LaunchFailureKind
from tests.unit.services.lifecycle.cluster import CLAIMS, POOLS, LifecycleCluster, in_a_cluster


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        pytest.param(LaunchFailureKind.INSUFFICIENT_CAPACITY, 1, id="no capacity"),
        pytest.param(LaunchFailureKind.NODE_CLASS_NOT_READY, 0, id="class not ready"),
    ],
)
def test_a_claim_that_cannot_be_launched_is_given_up(kind: LaunchFailureKind, told: int) -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.next_failures.append(LaunchFailure(kind=kind, message="sold out"))

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: len(cluster.cloud.launches) == 1)
        await cluster.until(lambda: not cluster.all(CLAIMS))
        await cluster.world.sleep(timedelta(seconds=1))

        assert len(cluster.events("InsufficientCapacityError")) == told
        assert cluster.cloud.instances == {}

    in_a_cluster(scenario)


def test_a_launch_that_failed_is_a_new_launch_next_time() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        failure = LaunchFailure(
            kind=LaunchFailureKind.CREATE_ERROR, reason="QuotaExceeded", message="ask for more"
        )
        cluster.cloud.next_failures.extend([failure] * 3)

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: bool(cluster.condition(cluster.claim(), "Launched")))
        launched = cluster.condition(cluster.claim(), "Launched")
        await cluster.until(lambda: cluster.is_true("Initialized"))

        assert (launched["status"], launched["reason"]) == ("Unknown", "QuotaExceeded")
        assert len({one.batch_id for one in cluster.cloud.launches}) == 4

    in_a_cluster(scenario)


def test_a_cloud_that_refuses_is_asked_ever_less_often() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        failure = LaunchFailure(kind=LaunchFailureKind.OTHER, message="not now")
        cluster.cloud.next_failures.extend([failure] * 1000)

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert 8 <= len(cluster.cloud.launches) <= 30

    in_a_cluster(scenario)


def test_a_launch_whose_answer_was_lost_is_the_same_launch_again() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.next_failures.append(Unavailable("the line broke"))

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: cluster.is_true("Initialized"))

        first, second = (one.batch_id for one in cluster.cloud.launches)
        assert first == second

    in_a_cluster(scenario)


def test_equal_claims_of_one_plan_are_launched_in_one_call() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        plan = cluster.plan()
        claims = tuple(cluster.planned(cluster.add_pod(f"p{i}"), index=i) for i in range(3))

        await cluster.client.apply_plan(cluster.with_plan(plan, Plan(nodeclaims=claims)))
        await cluster.until(lambda: len(cluster.all(CLAIMS)) == 3 and cluster.is_true("Launched"))

        assert [len(one.claims) for one in cluster.cloud.launches] == [3]

    in_a_cluster(scenario)


def test_a_claim_whose_node_never_joins_is_given_up_after_a_quarter_of_an_hour() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.joins = False
        began = cluster.world.clock.now()

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: cluster.is_true("Launched"))
        await cluster.until(lambda: not cluster.all(CLAIMS), within=timedelta(hours=1))

        lasted = cluster.world.clock.now() - began
        assert timedelta(minutes=15) <= lasted < timedelta(minutes=16)
        assert cluster.cloud.instances == {}

    in_a_cluster(scenario)


def test_an_instance_that_no_claim_knows_is_ended_after_two_lists() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        leaked = cluster.cloud.leak()

        await cluster.until(lambda: leaked in cluster.cloud.ended, within=timedelta(minutes=30))

        assert len(cluster.cloud.instances) == 1
        assert cluster.is_true("Initialized")

    in_a_cluster(scenario)


def test_a_claim_that_cannot_be_read_as_a_whole_is_not_launched() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        pool = cluster.get(POOLS, "default")["spec"]["template"]["spec"]
        requests = {"resources": {"requests": {"cpu": "-1"}}}
        cluster.create(
            CLAIMS,
            {
                "apiVersion": "karpenter.sh/v1",
                "kind": "NodeClaim",
                "metadata": {"name": "broken", "labels": {"karpenter.sh/nodepool": "default"}},
                "spec": {**pool, **requests},
            },
        )
        await cluster.until(lambda: bool(cluster.condition(cluster.claim(), "Launched")))
        await cluster.world.sleep(timedelta(minutes=1))

        launched = cluster.condition(cluster.claim(), "Launched")
        assert (launched["status"], launched["reason"]) == ("Unknown", "SpecInvalid")
        assert "spec.resources.requests.cpu" in launched["message"]
        assert cluster.cloud.launches == []

    in_a_cluster(scenario)
