"""The work queue in simulated time."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from prometheus_client import CollectorRegistry

from libs.domain.errors import StaleRevision, Unavailable
from libs.runtime.clock import LoopClock
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from services.lifecycle.loop import Key, Kind, WorkQueue
from services.lifecycle.metrics import Metrics

CLOCK = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))
SECOND = timedelta(seconds=1)
A, B = Key(Kind.CLAIM, "a"), Key(Kind.CLAIM, "b")


class Looks:
    """What was looked at, and when; `answers` are one-shot by key."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, float]] = []
        self.answers: dict[Key, list[timedelta | Exception | None]] = {}
        self.takes: dict[Key, timedelta] = {}
        self.running: set[Key] = set()

    async def __call__(self, key: Key) -> timedelta | None:
        assert key not in self.running, "one key, two workers"
        self.running.add(key)
        try:
            self.seen.append((key.name, CLOCK.monotonic()))
            await CLOCK.sleep(self.takes.get(key, timedelta(0)))
            answer = self.answers.get(key, [None])
            found = answer.pop(0) if answer else None
            if isinstance(found, Exception):
                raise found
            return found
        finally:
            self.running.discard(key)


def _run(looks: Looks, scenario: Callable[[WorkQueue], Awaitable[None]]) -> list[tuple[str, float]]:
    async def run() -> None:
        queue = WorkQueue(looks, CLOCK, Random(0), Metrics(CollectorRegistry()))
        task = asyncio.create_task(queue.run())
        await scenario(queue)
        task.cancel()

    run_virtual(run(), limit=timedelta(hours=1))
    return looks.seen


def test_a_key_added_often_is_looked_at_once() -> None:
    async def scenario(queue: WorkQueue) -> None:
        for _ in range(5):
            queue.add(A)
        queue.add(B)
        await CLOCK.sleep(SECOND)

    assert _run(Looks(), scenario) == [("a", 0.0), ("b", 0.0)]


def test_a_key_added_during_its_look_is_looked_at_again() -> None:
    looks = Looks()
    looks.takes[A] = SECOND

    async def scenario(queue: WorkQueue) -> None:
        queue.add(A)
        await CLOCK.sleep(SECOND / 2)
        queue.add(A)
        await CLOCK.sleep(3 * SECOND)

    assert _run(looks, scenario) == [("a", 0.0), ("a", 1.0)]


def test_a_slow_look_does_not_hold_up_others() -> None:
    looks = Looks()
    looks.takes[A] = 10 * SECOND

    async def scenario(queue: WorkQueue) -> None:
        queue.add(A)
        queue.add(B, SECOND)
        await CLOCK.sleep(2 * SECOND)

    assert _run(looks, scenario) == [("a", 0.0), ("b", 1.0)]


def test_the_earliest_time_that_was_asked_for_counts() -> None:
    async def scenario(queue: WorkQueue) -> None:
        queue.add(A, 5 * SECOND)
        queue.add(A, 2 * SECOND)
        queue.add(A, 9 * SECOND)
        await CLOCK.sleep(20 * SECOND)

    assert _run(Looks(), scenario) == [("a", 2.0)]


def test_a_look_says_when_the_next_one_is_due() -> None:
    looks = Looks()
    looks.answers[A] = [3 * SECOND, None]

    async def scenario(queue: WorkQueue) -> None:
        queue.add(A)
        await CLOCK.sleep(10 * SECOND)

    assert _run(looks, scenario) == [("a", 0.0), ("a", 3.0)]


def test_failures_wait_ever_longer_and_at_most_a_minute() -> None:
    looks = Looks()
    looks.answers[A] = [Unavailable("down")] * 30

    async def scenario(queue: WorkQueue) -> None:
        queue.add(A)
        await CLOCK.sleep(timedelta(minutes=10))

    times = [at for _, at in _run(looks, scenario)]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    assert gaps[0] <= 1
    assert max(gaps) > 20
    assert max(gaps) <= 60


def test_a_lost_race_is_run_again_soon_and_is_no_failure() -> None:
    looks = Looks()
    looks.answers[A] = [StaleRevision("changed"), StaleRevision("changed"), None]

    async def scenario(queue: WorkQueue) -> None:
        queue.add(A)
        await CLOCK.sleep(10 * SECOND)

    assert _run(looks, scenario) == [("a", 0.0), ("a", 0.5), ("a", 1.0)]
