import asyncio

from libs.runtime.latest import LatestValue, Versioned
from libs.runtime.virtual import run_virtual


def test_a_reader_gets_the_newest_and_skips_what_it_missed() -> None:
    async def scenario() -> Versioned[str]:
        latest = LatestValue[str]()
        for value in ("a", "b", "c"):
            latest.set(value)
        return await latest.newer_than(0)

    assert run_virtual(scenario()) == Versioned(3, "c")


def test_all_waiting_readers_wake_and_the_next_wait_is_for_the_next_value() -> None:
    async def scenario() -> list[Versioned[str]]:
        latest = LatestValue[str]()
        readers = [asyncio.ensure_future(latest.newer_than(0)) for _ in range(2)]
        await asyncio.sleep(1)  # noqa: TID251  # virtual time
        latest.set("a")
        first = await asyncio.gather(*readers)
        last = asyncio.ensure_future(latest.newer_than(first[0].version))
        await asyncio.sleep(1)  # noqa: TID251  # virtual time
        assert not last.done()
        latest.set("b")
        return [*first, await last]

    assert run_virtual(scenario()) == [Versioned(1, "a"), Versioned(1, "a"), Versioned(2, "b")]


def test_nothing_set_is_version_zero() -> None:
    async def scenario() -> tuple[int, object]:
        latest = LatestValue[str]()
        return latest.version, latest.current

    assert run_virtual(scenario()) == (0, None)
