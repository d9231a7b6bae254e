import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from libs.runtime.clock import LoopClock
from libs.runtime.timeouts import deadline
from libs.runtime.virtual import VirtualTimeError, run_virtual

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_day_passes_at_once_on_both_readings_of_the_clock() -> None:
    async def scenario() -> tuple[datetime, float]:
        clock = LoopClock(START)
        await clock.sleep(timedelta(days=1))
        return clock.now(), clock.monotonic()

    started = time.perf_counter()
    now, monotonic = run_virtual(scenario())

    assert now == START + timedelta(days=1)
    assert monotonic == pytest.approx(86400)
    assert time.perf_counter() - started < 30


def test_timers_fire_in_order_at_their_own_instants() -> None:
    async def scenario() -> list[tuple[str, float]]:
        fired: list[tuple[str, float]] = []
        clock = LoopClock(START)

        async def wait(name: str, seconds: float) -> None:
            await clock.sleep(timedelta(seconds=seconds))
            fired.append((name, clock.monotonic()))

        await asyncio.gather(wait("late", 5), wait("early", 2), wait("between", 2.5))
        return fired

    assert run_virtual(scenario()) == [("early", 2.0), ("between", 2.5), ("late", 5.0)]


def test_a_deadline_holds_in_virtual_time() -> None:
    async def scenario() -> float:
        clock = LoopClock(START)
        with pytest.raises(TimeoutError):
            async with deadline(clock, timedelta(minutes=5)):
                await asyncio.Event().wait()
        return clock.monotonic()

    assert run_virtual(scenario()) == pytest.approx(300)


def test_a_deadlock_names_the_tasks_and_where_they_wait() -> None:
    async def scenario() -> None:
        task = asyncio.create_task(asyncio.Event().wait(), name="stuck")
        await task

    with pytest.raises(VirtualTimeError, match=r"no timer is set(?s:.)*stuck: .*locks\.py"):
        run_virtual(scenario())


def test_a_scenario_that_only_ticks_ends_at_the_limit() -> None:
    async def scenario() -> None:
        while True:
            await LoopClock(START).sleep(timedelta(seconds=1))

    with pytest.raises(VirtualTimeError, match="limit of 60 s"):
        run_virtual(scenario(), limit=timedelta(minutes=1))


def test_thread_work_runs_inline_and_takes_no_time() -> None:
    async def scenario() -> tuple[int, float]:
        clock = LoopClock(START)
        result = await asyncio.to_thread(lambda: 42)
        return result, clock.monotonic()

    assert run_virtual(scenario()) == (42, 0.0)


def test_thread_work_passes_its_error_on() -> None:
    async def scenario() -> None:
        await asyncio.to_thread(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        run_virtual(scenario())
