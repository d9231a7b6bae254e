"""CronJobs: what is due when, and the Jobs that follow."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.runtime.virtual import run_virtual
from services.simulator.core.controllers import cron_times
from services.simulator.core.objects import stamp
from tests.unit.services.simulator.living import Living, a_node, living

CRON_JOBS, JOBS = "cronjobs.batch", "jobs.batch"


def a_cron_job(run: str = "5", exit_code: str = "0", **spec: Any) -> dict[str, Any]:
    notes = {"simulator.joiner.io/run-seconds": run, "simulator.joiner.io/exit-code": exit_code}
    container = {"name": "c", "image": "x"}
    template = {
        "metadata": {"annotations": notes},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    job = {"spec": {"template": template, "backoffLimit": 0}}
    return {
        "metadata": {"name": "cj"},
        "spec": {"schedule": "* * * * *", "jobTemplate": job} | spec,
    }


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("spec", "after", "expected"),
    [
        pytest.param({"schedule": "0 * * * *"}, "2026-01-01T00:00", "2026-01-01T01:00", id="hour"),
        pytest.param({"schedule": "@daily"}, "2026-01-01T05:00", "2026-01-02T00:00", id="macro"),
        pytest.param(
            {"schedule": "@every 90s"}, "2026-01-01T00:00", "2026-01-01T00:01:30", id="every"
        ),
        pytest.param(
            {"schedule": "0 9 * * *", "timeZone": "America/New_York"},
            "2026-01-01T00:00",
            "2026-01-01T14:00",
            id="in its time zone",
        ),
        pytest.param(
            {"schedule": "30 2 * * *", "timeZone": "Europe/Berlin"},
            "2026-03-28T12:00",
            "2026-03-29T01:30",
            id="clocks put forward",
        ),
    ],
)
def test_the_next_time_of_a_schedule(spec: dict[str, str], after: str, expected: str) -> None:
    assert cron_times.schedule_of(spec)(at(after)) == at(expected)


@pytest.mark.parametrize(
    ("last", "deadline", "latest", "many"),
    [
        pytest.param("2026-01-01T00:59", None, "2026-01-01T01:00", False, id="one"),
        pytest.param("2026-01-01T00:30", None, "2026-01-01T01:00", False, id="the last of many"),
        pytest.param("2025-12-01T00:00", None, "2026-01-01T01:00", True, id="too many"),
        pytest.param("2026-01-01T01:00", None, None, False, id="none"),
        pytest.param("2025-12-01T00:00", 90, "2026-01-01T01:00", False, id="within the deadline"),
    ],
)
def test_of_missed_times_the_last_counts(
    last: str, deadline: int | None, latest: str | None, many: bool
) -> None:
    spec = {"schedule": "* * * * *", "startingDeadlineSeconds": deadline}
    cron_job = {"metadata": {}, "spec": spec, "status": {"lastScheduleTime": stamp(at(last))}}

    due = cron_times.due(cron_job, cron_times.schedule_of(spec), at("2026-01-01T01:00:20"))

    assert due.latest == (None if latest is None else at(latest))
    assert due.many_missed is many
    assert due.next == at("2026-01-01T01:01")


async def play(cluster: Living, seconds: float, **spec: Any) -> None:
    cluster.api.create("nodes", a_node())
    cluster.api.create(CRON_JOBS, a_cron_job(**spec), "default")
    await cluster.after(seconds)


def jobs(cluster: Living) -> list[str]:
    return [job["metadata"]["name"] for job in cluster.api.list(JOBS, "default")]


def told(cluster: Living) -> set[str]:
    events = cluster.api.list("events", "default")
    return {e["reason"] for e in events if e["involvedObject"]["kind"] == "CronJob"}


def test_a_job_starts_at_each_time_and_three_are_kept() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, 330)

            minute = int(cluster.clock.now().timestamp()) // 60
            assert jobs(cluster) == [f"cj-{minute - ago}" for ago in (2, 1, 0)]
            status = cluster.status(CRON_JOBS, "cj")
            assert status["lastScheduleTime"] == "2026-01-01T00:05:00Z"
            assert status["lastSuccessfulTime"] == "2026-01-01T00:05:05Z"
            assert "active" not in status
            assert {"SuccessfulCreate", "SawCompletedJob", "SuccessfulDelete"} <= told(cluster)
            (job, *_) = cluster.api.list(JOBS, "default")
            scheduled = "batch.kubernetes.io/cronjob-scheduled-timestamp"
            assert job["metadata"]["annotations"][scheduled] == "2026-01-01T00:03:00Z"

    run_virtual(scenario())


@pytest.mark.parametrize(
    ("policy", "running", "reason"),
    [
        pytest.param("Allow", 3, "SuccessfulCreate", id="all run"),
        pytest.param("Forbid", 1, "JobAlreadyActive", id="the first runs on"),
        pytest.param("Replace", 1, "SuccessfulDelete", id="the last replaces it"),
    ],
)
def test_the_concurrency_policy_decides(policy: str, running: int, reason: str) -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, 190, run="never", concurrencyPolicy=policy)

            assert len(cluster.status(CRON_JOBS, "cj")["active"]) == running
            assert len(jobs(cluster)) == running
            assert reason in told(cluster)

    run_virtual(scenario())


def test_a_suspended_one_starts_nothing_until_it_is_resumed() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, 150, suspend=True)
            assert jobs(cluster) == []

            cluster.api.patch(CRON_JOBS, "cj", {"spec": {"suspend": False}}, "default")
            await cluster.after(1)

            assert len(jobs(cluster)) == 1  # of the two missed times the last

    run_virtual(scenario())


def test_one_failed_job_is_kept() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, 200, exit_code="1")

            assert len(jobs(cluster)) == 1
            assert cluster.api.list(JOBS, "default")[0]["status"]["failed"] == 1

    run_virtual(scenario())


def test_what_is_deleted_takes_its_jobs_along() -> None:
    async def scenario() -> None:
        async with living() as cluster:
            await play(cluster, 70, run="never")
            cluster.api.delete(CRON_JOBS, "cj", "default")
            await cluster.after(timedelta(seconds=5).total_seconds())

            assert jobs(cluster) == []

    run_virtual(scenario())
