"""What holds while the API server or the cloud is away, and when another process takes over."""

from datetime import timedelta

from libs.domain.errors import Unavailable
from libs.runtime.virtual import run_virtual
from tests.unit.services.lifecycle.cluster import (
    ADDRESS,
    CLAIMS,
    CLASSES,
    MINUTE,
    POOLS,
    SECOND,
    LifecycleCluster,
    a_cluster,
    in_a_cluster,
)


def test_a_cloud_that_is_away_for_some_minutes_loses_nothing() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.next_failures.extend([Unavailable("away")] * 5)

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.until(lambda: cluster.is_true("Initialized"))

        assert len(cluster.cloud.instances) == 1
        assert len({one.batch_id for one in cluster.cloud.launches}) == 1

    in_a_cluster(scenario)


def test_a_cloud_that_starts_after_lifecycle_is_found_within_a_second() -> None:
    async def run() -> None:
        async with a_cluster() as cluster:
            cluster.cloud.away = True
            await cluster.start_second(ADDRESS)
            await cluster.until_admitting()
            await cluster.world.sleep(10 * MINUTE)
            unready = cluster.condition(cluster.get(POOLS, "default"), "Ready")

            cluster.cloud.away = False
            await cluster.until(
                lambda: cluster.condition(cluster.get(POOLS, "default"), "Ready") != unready,
                within=SECOND,
            )

            ready = cluster.condition(cluster.get(POOLS, "default"), "Ready")
            assert ready["status"] == "True"

    run_virtual(run())


def test_a_claim_is_launched_within_a_second_of_its_clouds_return() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.away = True
        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.world.sleep(4 * MINUTE)  # after five a claim is given up
        before = len(cluster.cloud.launches)

        cluster.cloud.away = False
        await cluster.until(lambda: cluster.is_true("Launched"), within=SECOND)

        assert (before, len(cluster.cloud.launches)) == (0, 1)

    in_a_cluster(scenario)


def test_a_cloud_that_answers_but_does_not_launch_is_not_asked_without_pause() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        cluster.cloud.next_failures.extend([Unavailable("throttled")] * 1000)

        await cluster.client.apply_plan(cluster.plan(cluster.add_pod("waiting")))
        await cluster.world.sleep(4 * MINUTE)

        assert 3 < len(cluster.cloud.launches) < 30

    in_a_cluster(scenario)


def test_an_api_server_that_is_away_for_two_minutes_loses_nothing() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()
        cluster.server.direct.delete(CLAIMS, cluster.claim()["metadata"]["name"])
        await cluster.world.sleep(timedelta(milliseconds=50))

        cluster.cut()
        await cluster.world.sleep(2 * MINUTE)
        cluster.cut(False)
        await cluster.until(lambda: not cluster.all(CLAIMS))

        assert cluster.cloud.instances == {}
        assert cluster.all("nodes") == []

    in_a_cluster(scenario)


def test_of_two_processes_one_acts_and_the_other_takes_over() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.start_second("lifecycle:2")
        await cluster.node_ready()
        launches = len(cluster.cloud.launches)

        await cluster.kill()
        cluster.connect("lifecycle:2")
        await cluster.until_admitting()
        plan = cluster.plan(cluster.add_pod("second"), plan_id="plan-2")
        await cluster.client.apply_plan(plan)
        await cluster.until(lambda: len(cluster.all(CLAIMS)) == 2 and cluster.is_true("Launched"))

        assert launches == 1
        assert len(cluster.cloud.launches) == 2

    in_a_cluster(scenario)


def test_a_class_stays_until_its_last_claim_is_gone() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        await cluster.node_ready()

        cluster.server.direct.delete(CLASSES, "default")
        await cluster.world.sleep(MINUTE)
        reason = cluster.condition(cluster.get(POOLS, "default"), "NodeClassReady")["reason"]
        held = len(cluster.all(CLASSES))
        cluster.server.direct.delete(CLAIMS, cluster.claim()["metadata"]["name"])
        await cluster.until(lambda: not cluster.all(CLASSES))

        assert (held, reason) == (1, "NodeClassTerminating")

    in_a_cluster(scenario)


def test_one_broken_pool_stops_only_itself() -> None:
    async def scenario(cluster: LifecycleCluster) -> None:
        template = {
            "spec": {
                "requirements": [],
                "nodeClassRef": {"group": "nobody.example", "kind": "Thing", "name": "x"},
            }
        }
        cluster.add_pool("broken", template=template)

        await cluster.node_ready()

        found = cluster.condition(cluster.get(POOLS, "broken"), "NodeClassReady")
        assert (found["status"], found["reason"]) == ("False", "NodeClassNotFound")

    in_a_cluster(scenario)
