"""Jobs on a living cluster."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers import job_indexes
from tests.unit.services.simulator.living import Living, a_node, a_template, living

JOBS = "jobs.batch"


def a_job(seconds: str = "", **spec: Any) -> dict[str, Any]:
    notes = {"simulator.joiner.io/run-seconds": seconds} if seconds else {}
    template = a_template("work", restartPolicy="Never", annotations=notes)
    return {"metadata": {"name": "work"}, "spec": {"template": template, **spec}}


def conditions(cluster: Living) -> dict[str, str]:
    found = cluster.status(JOBS, "work").get("conditions", [])
    return {entry["type"]: entry["reason"] for entry in found if entry["status"] == "True"}


def test_a_job_runs_as_many_pods_at_once_as_it_may_until_enough_ended() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(JOBS, a_job("2", completions=5, parallelism=2), "default")
            most = 0

            def complete() -> bool:
                nonlocal most
                most = max(most, len(cluster.running()))
                return "Complete" in conditions(cluster)

            await cluster.until(complete)

            status = cluster.status(JOBS, "work")
            assert (most, status["succeeded"]) == (2, 5)
            assert 6 < cluster.clock.monotonic() < 10  # a boot, three rounds of two seconds
            assert {pod["status"]["phase"] for pod in cluster.pods()} == {"Succeeded"}

    run_virtual(scenario())


def test_completed_pods_stay_counted_when_their_node_goes() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(JOBS, a_job(completions=1), "default")
            await cluster.until(lambda: "Complete" in conditions(cluster))

            cluster.api.delete("nodes", "n1")
            await cluster.after(41)

            assert not cluster.pods()
            assert cluster.status(JOBS, "work")["succeeded"] == 1

    run_virtual(scenario())


def test_a_running_pod_that_is_lost_with_its_node_is_made_anew() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node("n1"))
            cluster.api.create(JOBS, a_job("60", completions=1), "default")
            await cluster.until(cluster.running)

            cluster.api.delete("nodes", "n1")
            cluster.api.create("nodes", a_node("n2"))
            await cluster.after(41)
            await cluster.until(cluster.running)

            assert [pod["spec"]["nodeName"] for pod in cluster.running()] == ["n2"]
            assert cluster.status(JOBS, "work")["failed"] == 1

    run_virtual(scenario())


def test_a_job_fails_when_too_many_pods_did() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(JOBS, a_job("60", completions=1, backoffLimit=1), "default")
            for _ in range(2):
                await cluster.until(cluster.running)
                (pod,) = cluster.running()
                cluster.api.delete("pods", pod["metadata"]["name"], "default")
                await cluster.after(1)

            await cluster.after(5)

            assert conditions(cluster)["Failed"] == "BackoffLimitExceeded"
            assert not cluster.pods()

    run_virtual(scenario())


def test_a_job_that_takes_too_long_fails() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create(JOBS, a_job(activeDeadlineSeconds=30), "default")
            await cluster.after(29)
            assert not conditions(cluster)

            await cluster.after(2)

            assert conditions(cluster)["Failed"] == "DeadlineExceeded"
            assert not cluster.pods()

    run_virtual(scenario())


def test_a_finished_job_goes_when_its_time_to_live_is_over() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(JOBS, a_job(ttlSecondsAfterFinished=10), "default")
            await cluster.until(lambda: "Complete" in conditions(cluster))

            await cluster.until(lambda: cluster.api.find(JOBS, "work", "default") is None)
            await cluster.after(1)

            assert not cluster.pods()

    run_virtual(scenario())


def test_a_suspended_job_has_no_pods_until_it_is_resumed() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            cluster.api.create(JOBS, a_job(suspend=True), "default")
            await cluster.after(5)
            assert not cluster.pods()
            assert conditions(cluster) == {"Suspended": "JobSuspended"}

            cluster.api.patch(JOBS, "work", {"spec": {"suspend": False}}, "default")
            await cluster.until(lambda: "Complete" in conditions(cluster))

            assert "Suspended" not in conditions(cluster)

    run_virtual(scenario())


def test_pods_of_an_indexed_job_have_an_index_each() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            cluster.api.create("nodes", a_node())
            job = a_job("1", completions=4, parallelism=3, completionMode="Indexed")
            cluster.api.create(JOBS, job, "default")
            await cluster.until(lambda: "Complete" in conditions(cluster))

            key = "batch.kubernetes.io/job-completion-index"
            indexes = sorted(pod["metadata"]["labels"][key] for pod in cluster.pods())

            assert indexes == ["0", "1", "2", "3"]
            assert cluster.status(JOBS, "work")["completedIndexes"] == "0-3"

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        pytest.param(set(), "", id="none"),
        pytest.param({4}, "4", id="one"),
        pytest.param({0, 1, 3, 4, 5, 9}, "0,1,3-5,9", id="a range from three on"),
    ],
)
def test_indexes_are_written_and_read_back(indexes: set[int], text: str) -> None:
    assert job_indexes.compressed(indexes) == text
    assert job_indexes.expanded(text) == indexes
