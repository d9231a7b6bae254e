from datetime import UTC, datetime, timedelta

import pytest

from libs.domain.errors import NotFound, Unavailable
from libs.runtime.backoff import Backoff, BackoffPolicy, retrying
from libs.runtime.clock import LoopClock
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual

POLICY = BackoffPolicy(first=timedelta(seconds=1), cap=timedelta(seconds=8))


class Longest(Random):
    """Draws the upper bound each time."""

    def random(self) -> float:
        return 1.0


def a_backoff(random: Random | None = None) -> Backoff:
    return Backoff(POLICY, LoopClock(datetime(2026, 1, 1, tzinfo=UTC)), random or Longest())


def test_the_bound_doubles_up_to_the_cap_and_starts_over_after_a_reset() -> None:
    backoff = a_backoff()

    waits = [backoff.next_wait().total_seconds() for _ in range(6)]
    backoff.reset()

    assert waits == [1, 2, 4, 8, 8, 8]
    assert backoff.next_wait() == timedelta(seconds=1)


def test_a_thousand_failures_still_wait_for_the_cap() -> None:
    backoff = a_backoff()

    assert [backoff.next_wait() for _ in range(1000)][-1] == POLICY.cap


def test_waits_spread_over_the_whole_bound() -> None:
    waits = [a_backoff(Random(seed)).next_wait().total_seconds() for seed in range(200)]

    assert min(waits) < 0.1
    assert max(waits) > 0.9


def test_attempts_wait_on_the_clock_in_between_but_not_before_the_first() -> None:
    async def scenario() -> list[float]:
        clock = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))
        instants = []
        async for attempt in Backoff(POLICY, clock, Longest()):
            instants.append(clock.monotonic())
            if attempt == 4:
                break
        return instants

    assert run_virtual(scenario()) == [0, 1, 3, 7]


def test_retrying_returns_the_first_answer() -> None:
    answers = [Unavailable("down"), Unavailable("down"), "up"]

    async def call() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    assert run_virtual(retrying(call, a_backoff(), attempts=5)) == "up"


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        pytest.param(Unavailable("down"), 3, id="retried to the last attempt"),
        pytest.param(NotFound("gone"), 1, id="anything else at once"),
    ],
)
def test_retrying_gives_up(error: Exception, calls: int) -> None:
    made = []

    async def call() -> None:
        made.append(1)
        raise error

    with pytest.raises(type(error)):
        run_virtual(retrying(call, a_backoff(), attempts=3))

    assert len(made) == calls
