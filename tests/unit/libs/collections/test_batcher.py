"""When a batch closes, and what it holds; in simulated time."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from libs.collections.batcher import Batcher, Window
from libs.runtime.virtual import run_virtual

T = TypeVar("T")
WINDOW = Window(idle=timedelta(seconds=1), longest=timedelta(seconds=10), most=20)


class LoopTimer:
    """Sleeps on the running loop's timers."""

    async def sleep(self, span: timedelta) -> None:
        woken = asyncio.Event()
        asyncio.get_running_loop().call_later(span.total_seconds(), woken.set)
        await woken.wait()


def now() -> float:
    return round(asyncio.get_running_loop().time(), 6)


def a_batcher(*triggers: tuple[float, str]) -> Batcher[str]:
    """Build a batcher that is triggered at the given seconds from now."""
    batcher = Batcher[str](WINDOW, LoopTimer())
    for seconds, name in triggers:
        asyncio.get_running_loop().call_later(seconds, batcher.trigger, name)
    return batcher


async def batch_and_time(batcher: Batcher[str]) -> tuple[tuple[str, ...], float]:
    return await batcher.wait(), now()


def in_simulated_time(main: Coroutine[Any, Any, T]) -> T:
    return run_virtual(main, limit=timedelta(minutes=5))


@pytest.mark.parametrize(
    ("triggers", "batch", "closed_at"),
    [
        pytest.param([(5, "a")], ("a",), 6, id="idle after the first"),
        pytest.param([(0, "a"), (0.9, "b"), (1.8, "c")], ("a", "b", "c"), 2.8, id="extended"),
        pytest.param([(0, "a"), (0.9, "a"), (1.8, "b")], ("a",), 1, id="a repeat does not extend"),
        pytest.param(
            [(n * 0.75, f"p{n:02}") for n in range(20)],
            tuple(f"p{n:02}" for n in range(14)),
            10,
            id="busy up to the longest",
        ),
        pytest.param(
            [(n * 0.01, f"p{n:02}") for n in range(30)],
            tuple(f"p{n:02}" for n in range(20)),
            0.19,
            id="full at once",
        ),
    ],
)
def test_a_window_closes(
    triggers: list[tuple[float, str]], batch: tuple[str, ...], closed_at: float
) -> None:
    async def main() -> tuple[tuple[str, ...], float]:
        return await batch_and_time(a_batcher(*triggers))

    assert in_simulated_time(main()) == (batch, closed_at)


def test_what_comes_while_nobody_waits_is_in_the_next_window() -> None:
    async def main() -> list[tuple[tuple[str, ...], float]]:
        batcher = a_batcher((0, "a"), (2, "b"))
        first = await batch_and_time(batcher)
        await LoopTimer().sleep(timedelta(seconds=7))
        return [first, await batch_and_time(batcher)]

    assert in_simulated_time(main()) == [(("a",), 1), (("b",), 9)]


def test_a_closed_window_forgets_its_triggers() -> None:
    async def main() -> list[tuple[tuple[str, ...], float]]:
        batcher = a_batcher((0, "a"), (1.5, "a"))
        return [await batch_and_time(batcher), await batch_and_time(batcher)]

    assert in_simulated_time(main()) == [(("a",), 1), (("a",), 2.5)]


def test_a_cancelled_wait_loses_nothing() -> None:
    async def main() -> tuple[tuple[str, ...], float]:
        batcher = a_batcher((0, "a"), (0.4, "b"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await batcher.wait()
        return await batch_and_time(batcher)

    assert in_simulated_time(main()) == (("a", "b"), 1.5)


def test_no_timer_is_left_behind() -> None:
    async def main() -> int:
        batcher = a_batcher((0, "a"))
        await batcher.wait()
        await LoopTimer().sleep(timedelta(seconds=0))
        return len(asyncio.all_tasks())

    assert in_simulated_time(main()) == 1
