"""Candidates in virtual time, against a store that fails, hangs and loses answers."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from libs.domain.errors import Forbidden, JoinerError, NotReady, Unavailable
from libs.runtime.clock import LoopClock
from libs.runtime.leader import LeaderSettings, Leadership
from libs.runtime.lease import NOBODY, Lease, LeaseStore, MemoryLeaseStore
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual

T = TypeVar("T")

CLOCK = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))
SETTINGS = LeaderSettings()


class World:
    """One lease, some candidates, and what each of them did."""

    def __init__(
        self,
        store: LeaseStore,
        door: Callable[[LeaseStore, Random], LeaseStore] = lambda store, _: store,
    ) -> None:
        self._store = store
        self._door = door
        self.candidates: dict[str, Leadership] = {}
        self.terms: list[tuple[str, int, float]] = []

    def start(self, name: str) -> "asyncio.Task[None]":
        leadership = Leadership(
            store=self._door(self._store, Random(name)),
            boot_id=name,
            settings=SETTINGS,
            clock=CLOCK,
            random=Random(name),
        )
        self.candidates[name] = leadership

        async def lead() -> None:
            self.terms.append((name, leadership.epoch.lease_transitions, CLOCK.monotonic()))
            await asyncio.Event().wait()

        return asyncio.create_task(leadership.run(lead), name=name)

    def leaders(self) -> list[str]:
        return [name for name, candidate in self.candidates.items() if candidate.leading]


class TroubledDoor:
    """One candidate's way to the store: slow, at times cut off, and answers get lost."""

    def __init__(self, store: LeaseStore, random: Random) -> None:
        self._store = store
        self._random = random
        self._cut_until = 0.0

    async def get(self) -> Lease | None:
        return await self._troubled(self._store.get)

    async def create(self, lease: Lease) -> Lease:
        return await self._troubled(lambda: self._store.create(lease))

    async def update(self, lease: Lease) -> Lease:
        return await self._troubled(lambda: self._store.update(lease))

    async def _troubled(self, call: Callable[[], Awaitable[T]]) -> T:
        await wait(self._random.choice((0.0, 0.0, 0.0, 0.01, 1.0)))
        self._raise_if_cut()
        answer = await call()
        await wait(self._random.choice((0.0, 0.0, 0.01, 4.9, 6.0)))
        if self._random.random() < 0.1:
            self._cut_until = CLOCK.monotonic() + self._random.uniform(1.0, 40.0)
        self._raise_if_cut()
        return answer

    def _raise_if_cut(self) -> None:
        if CLOCK.monotonic() < self._cut_until:
            raise Unavailable("lost on the way")


class DeafStore(MemoryLeaseStore):
    """Answers with an error while `deaf`."""

    deaf = False
    error: JoinerError = Unavailable("nobody answers")

    async def get(self) -> Lease | None:
        self._listen()
        return await super().get()

    async def update(self, lease: Lease) -> Lease:
        self._listen()
        return await super().update(lease)

    def _listen(self) -> None:
        if self.deaf:
            raise self.error


class SlowAnswers(MemoryLeaseStore):
    """Writes at once, but answers a write late while `slow`."""

    slow = False

    async def update(self, lease: Lease) -> Lease:
        written = await super().update(lease)
        if self.slow:
            await wait(3)
        return written


async def wait(seconds: float) -> None:
    await CLOCK.sleep(timedelta(seconds=seconds))


async def stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait((task,))


def test_one_of_two_leads_and_the_other_waits() -> None:
    async def scenario() -> None:
        world = World(MemoryLeaseStore())
        tasks = [world.start("a"), world.start("b")]
        await wait(600)

        assert [name for name, _, _ in world.terms] == ["a"]
        assert world.leaders() == ["a"]
        for task in tasks:
            await stop(task)

    run_virtual(scenario())


def test_a_release_hands_over_within_one_retry_period() -> None:
    async def scenario() -> None:
        world = World(MemoryLeaseStore())
        first, second = world.start("a"), world.start("b")
        await wait(60)
        await stop(first)
        await wait(2.3)

        assert world.leaders() == ["b"]
        assert world.terms[1][:2] == ("b", 1)
        await stop(second)

    run_virtual(scenario())


def test_a_stop_in_the_middle_of_a_renewal_releases_the_lease() -> None:
    async def scenario() -> None:
        store = SlowAnswers()
        world = World(store)
        first = world.start("a")
        await wait(60)
        before = await store.get()
        store.slow = True
        while (renewed := await store.get()) == before:
            await wait(0.1)
        assert renewed is not None
        assert renewed.holder == "a"
        store.slow = False
        await stop(first)  # its last renewal was written, its answer never read

        left = await store.get()
        assert left is not None
        assert left.holder == NOBODY

    run_virtual(scenario())


def test_a_leader_that_stops_leaves_another_ones_lease_alone() -> None:
    async def scenario() -> None:
        store = MemoryLeaseStore()
        world = World(store)
        first = world.start("a")
        await wait(60)
        held = await store.get()
        assert held is not None
        taken = await store.update(replace(held, holder="b"))
        await stop(first)

        assert await store.get() == taken

    run_virtual(scenario())


def test_after_a_crash_the_lease_runs_out_before_it_is_taken() -> None:
    async def scenario() -> None:
        store = DeafStore()
        world = World(store)
        first, second = world.start("a"), world.start("b")
        await wait(60)
        store.deaf = True  # the release is lost as in a crash
        await stop(first)
        store.deaf = False  # and then the store is back
        lost = CLOCK.monotonic()
        await wait(60)

        name, _, since = world.terms[1]
        assert name == "b"
        assert 12 < since - lost < 18
        await stop(second)

    run_virtual(scenario())


def test_a_leader_cut_off_stops_before_the_successor_starts() -> None:
    async def scenario() -> None:
        store = DeafStore()
        world = World(store)
        first = world.start("a")
        await wait(60)
        leader = world.candidates["a"]
        cut = CLOCK.monotonic()
        store.deaf = True  # no renewal comes through
        while leader.leading:
            await wait(0.1)
        ended = CLOCK.monotonic()

        assert 7 < ended - cut < 10.2
        with pytest.raises(NotReady):
            leader.require_leadership()
        with pytest.raises(NotReady):
            _ = leader.epoch
        await stop(first)

    run_virtual(scenario())


@pytest.mark.parametrize("seed", range(10))
def test_there_are_never_two_leaders_whatever_the_store_does(seed: int) -> None:
    async def scenario() -> World:
        world = World(MemoryLeaseStore(), TroubledDoor)
        random = Random(seed + 1000)
        tasks = {name: world.start(name) for name in (f"a0-{seed}", f"b0-{seed}", f"c0-{seed}")}
        for round_number in range(1, 40):
            for _ in range(240):
                await wait(0.25)
                assert len(world.leaders()) <= 1
            name = random.choice(sorted(tasks))
            await stop(tasks.pop(name))
            world.candidates.pop(name)
            fresh = f"{name[0]}{round_number}-{seed}"
            tasks[fresh] = world.start(fresh)
        for task in tasks.values():
            await stop(task)
        return world

    world = run_virtual(scenario())

    transitions = [number for _, number, _ in world.terms]
    assert len(transitions) >= 5
    assert transitions == sorted(set(transitions))


@pytest.mark.parametrize("error", [Unavailable("starting"), Forbidden("no roles yet")], ids=str)
def test_a_store_that_refuses_for_a_while_is_asked_again(error: JoinerError) -> None:
    async def scenario() -> None:
        store = DeafStore()
        store.deaf, store.error = True, error
        world = World(store)
        task = world.start("a")
        await wait(60)
        assert world.leaders() == []
        store.deaf = False
        await wait(2.3)

        assert world.leaders() == ["a"]
        await stop(task)

    run_virtual(scenario())


def test_work_that_returns_is_an_error() -> None:
    async def scenario() -> None:
        leadership = Leadership(
            store=MemoryLeaseStore(),
            boot_id="a",
            settings=SETTINGS,
            clock=CLOCK,
            random=Random(1),
        )

        async def lead() -> None:
            return

        await leadership.run(lead)

    with pytest.raises(ExceptionGroup) as caught:
        run_virtual(scenario())
    assert "must run until it is cancelled" in str(caught.value.exceptions[0])
