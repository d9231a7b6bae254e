"""How Jobs end: back-off, failure and success policies, limits per index, events."""

from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.objects import condition_of
from tests.unit.services.simulator.living import Living, a_node, a_pod, a_template, living

JOBS = "jobs.batch"
ROOT = "simulator.joiner.io"


def a_job(run: str = "1", code: str = "0", **spec: Any) -> dict[str, Any]:
    notes = {f"{ROOT}/run-seconds": run, f"{ROOT}/exit-code": code}
    template = a_template("work", restartPolicy="Never", annotations=notes)
    return {"metadata": {"name": "work"}, "spec": {"template": template, **spec}}


async def play(cluster: Living, job: dict[str, Any], seconds: float) -> dict[str, Any]:
    cluster.api.create("nodes", a_node())
    await cluster.after(2)
    cluster.api.create(JOBS, job, "default")
    await cluster.after(seconds)
    return cluster.status(JOBS, "work")


def ends(status: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["reason"] for one in status["conditions"] if one["status"] == "True"}


def told(cluster: Living) -> dict[str, str]:
    events = cluster.api.list("events", "default")
    return {e["reason"]: e["message"] for e in events if e["involvedObject"]["kind"] == "Job"}


def test_a_failed_pod_is_replaced_later_and_later() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            status = await play(cluster, a_job(code="1", backoffLimit=5), 5)
            assert (status["failed"], "active" in status) == (1, False)
            made = []
            for _ in range(150):
                await cluster.after(1)
                made.append(len(cluster.pods()))

            # each runs 1.3 s; the waits between them are of ten, twenty and forty seconds
            assert [made.index(count) // 5 * 5 for count in (2, 3, 4)] == [5, 25, 65]

    run_virtual(scenario())


def test_a_job_says_that_it_fails_before_its_pods_have_gone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            job = a_job(run="never", activeDeadlineSeconds=10)
            job["spec"]["template"]["metadata"]["annotations"][f"{ROOT}/stop-seconds"] = "20"
            status = await play(cluster, job, 15)
            assert ends(status) == {"FailureTarget": "DeadlineExceeded"}
            assert (status["terminating"], status.get("active")) == (1, None)
            await cluster.after(25)

            assert ends(cluster.status(JOBS, "work"))["Failed"] == "DeadlineExceeded"
            assert "DeadlineExceeded" in told(cluster)

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("rule", "end", "failed"),
    [
        pytest.param(
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}},
            {"FailureTarget": "PodFailurePolicy", "Failed": "PodFailurePolicy"},
            1,
            id="the job fails",
        ),
        pytest.param(
            {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [3]}},
            {},
            2,
            id="another code is meant",
        ),
        pytest.param(
            {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}},
            {},
            0,
            id="it is not counted",
        ),
    ],
)
def test_the_failure_policy_decides(rule: dict[str, Any], end: dict[str, str], failed: int) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            status = await play(cluster, a_job(code="3", podFailurePolicy={"rules": [rule]}), 20)

            assert end == (ends(status) if status.get("conditions") else {})
            assert status.get("failed", 0) == failed
            if end:
                message = (condition_of({"status": status}, "Failed") or {})["message"]
                assert "failed with exit code 3 matching FailJob rule at index 0" in message

    run_virtual(scenario())


def test_a_success_policy_ends_a_job_early() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            rule = {"succeededIndexes": "0"}
            job = a_job(
                run="5", completions=3, parallelism=1, completionMode="Indexed",
                successPolicy={"rules": [rule]},
            )  # fmt: skip
            status = await play(cluster, job, 8)

            assert ends(status) == {
                "SuccessCriteriaMet": "SuccessPolicy",
                "Complete": "SuccessPolicy",
            }
            assert status["succeeded"] == 1

    run_virtual(scenario())


def test_an_index_that_fails_too_often_fails_alone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            job = a_job(
                code="1", completions=2, parallelism=2, completionMode="Indexed",
                backoffLimitPerIndex=1,
            )  # fmt: skip
            status = await play(cluster, job, 5)
            assert status["failed"] == 2
            await cluster.after(15)

            status = cluster.status(JOBS, "work")
            assert status["failedIndexes"] == "0,1"
            assert ends(status)["Failed"] == "FailedIndexes"

    run_virtual(scenario())


def test_a_job_tells_what_it_does() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, a_job(), 5)

            assert told(cluster)["Completed"] == "Job completed"
            assert told(cluster)["SuccessfulCreate"].startswith("Created pod: work-")

    run_virtual(scenario())


def test_a_job_takes_over_pods_that_it_selects() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            job = a_job("never", manualSelector=True, selector={"matchLabels": {"app": "work"}})
            lone = a_pod("lone", restartPolicy="Never")
            lone["metadata"]["labels"] = {"app": "work"}
            cluster.api.create("pods", lone, "default")
            await play(cluster, job, 3)

            assert len(cluster.pods()) == 1
            assert cluster.owner_names() == {"work"}

    run_virtual(scenario())


def test_a_job_of_another_manager_is_left_alone() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, a_job(managedBy="example.com/queue"), 5)

            assert not cluster.pods()
            assert cluster.status(JOBS, "work") == {}

    run_virtual(scenario())
