"""Work that runs a few at a time, and whose results are told as they come."""

import asyncio
from functools import partial

import pytest

from services.solver.streaming import as_finished


async def test_results_come_in_the_order_in_which_they_are_ready() -> None:
    doors = {name: asyncio.Event() for name in "abc"}

    async def work(name: str) -> str:
        await doors[name].wait()
        return name

    results = as_finished((partial(work, name) for name in doors), most=3)
    doors["b"].set()
    assert await anext(results) == "b"
    for name in "ac":
        doors[name].set()
    assert [name async for name in results] == ["a", "c"]


async def test_no_more_run_at_a_time_than_allowed() -> None:
    running: list[int] = []
    most = 0

    async def work(number: int) -> int:
        nonlocal most
        running.append(number)
        most = max(most, len(running))
        soon = asyncio.Event()
        asyncio.get_running_loop().call_soon(soon.set)
        await soon.wait()
        running.remove(number)
        return number

    found = [one async for one in as_finished((partial(work, n) for n in range(9)), most=2)]

    assert (sorted(found), most) == (list(range(9)), 2)


async def test_whoever_leaves_leaves_nothing_running() -> None:
    ended: list[str] = []

    async def endless() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("endless")
        return "never"

    async def quick() -> str:
        return "quick"

    results = as_finished((quick, endless), most=2)
    assert await anext(results) == "quick"
    await results.aclose()

    assert ended == ["endless"]


async def test_the_first_failure_ends_it_all() -> None:
    async def broken() -> str:
        raise ValueError("broken")

    async def endless() -> str:
        await asyncio.Event().wait()
        return "never"

    with pytest.raises(ValueError, match="broken"):
        async for _ in as_finished((endless, broken, broken), most=3):
            pass
