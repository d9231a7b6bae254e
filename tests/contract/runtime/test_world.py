"""The in-memory world lives by the same rules as processes do."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from libs.domain.errors import Unavailable
from libs.runtime.app import App, Runtime
from libs.runtime.serving import RootTaskEndedError
from libs.runtime.virtual import run_virtual
from tests.contract.runtime.echo import Echo, EchoStub
from tests.support.world import World

Log = list[tuple[float, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    target: str = "echo:1"
    log: Log


def build_echo(echo: Echo, runtime: Runtime) -> App:
    return App(servicers=(echo.add_to_server,))


def build_asker(settings: Asking, runtime: Runtime) -> App:
    stub = EchoStub(runtime.network.channel(settings.target))

    async def ask() -> None:
        while True:
            try:
                answer = (await stub.One(b"who")).decode()
            except Unavailable:
                answer = "nobody"
            settings.log.append((runtime.clock.monotonic(), answer))
            await runtime.clock.sleep(timedelta(seconds=60))

    return App(tasks={"ask": ask})


def test_an_hour_of_calls_between_two_services_passes_at_once() -> None:
    async def scenario() -> Log:
        log: Log = []
        async with World() as world:
            await world.start("echo", build_echo, Echo(), "echo:1")
            await world.start("asker", build_asker, Asking(log=log), "asker:1")
            await world.sleep(timedelta(hours=1))
        return log

    log = run_virtual(scenario())

    assert len(log) == 61
    assert set(log) == {(60.0 * minute, "asker") for minute in range(61)}


@pytest.mark.parametrize("end", [World.stop, World.kill], ids=["stopped", "killed"])
def test_a_caller_survives_its_peer_and_finds_the_next_one(end: Callable[..., Any]) -> None:
    async def scenario() -> list[str]:
        log: Log = []
        async with World() as world:
            await world.start("echo", build_echo, Echo(), "echo:1")
            await world.start("asker", build_asker, Asking(log=log), "asker:1")
            await world.sleep(timedelta(seconds=90))
            await end(world, "echo")
            await world.sleep(timedelta(seconds=60))
            await world.start("echo", build_echo, Echo(), "echo:1")
            await world.sleep(timedelta(seconds=60))
        return [answer for _, answer in log]

    assert run_virtual(scenario()) == ["asker", "asker", "nobody", "asker"]


def test_a_call_in_progress_ends_when_its_server_is_killed() -> None:
    async def scenario() -> float:
        async with World() as world:
            await world.start("echo", build_echo, Echo(), "echo:1")
            stub = EchoStub(world.network.seen_by("me").channel("echo:1"))
            call = asyncio.ensure_future(stub.One(b"hang"))
            await world.sleep(timedelta(seconds=3))
            await world.kill("echo")
            with pytest.raises(Unavailable):
                await call
            return world.clock.monotonic()

    assert run_virtual(scenario()) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("end", "heard"),
    [pytest.param(World.stop, b"bye", id="stopped"), pytest.param(World.kill, None, id="killed")],
)
def test_a_killed_service_cleans_nothing_up(end: Callable[..., Any], heard: bytes | None) -> None:
    said: list[bytes] = []

    def build(settings: None, runtime: Runtime) -> App:
        stub = EchoStub(runtime.network.channel("echo:1"))

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                with contextlib.suppress(Unavailable):
                    said.append(await stub.One(b"bye"))

        return App(tasks={"work": work})

    async def scenario() -> None:
        async with World() as world:
            await world.start("echo", build_echo, Echo(), "echo:1")
            await world.start("worker", build, None, "worker:1", sever=lambda: severed.append(1))
            await world.sleep(timedelta(seconds=1))
            await end(world, "worker")

    severed: list[int] = []
    run_virtual(scenario())

    assert said == ([heard] if heard else [])
    assert severed == ([] if heard else [1])


def test_a_service_that_fails_ends_the_scenario() -> None:
    def build(settings: None, runtime: Runtime) -> App:
        async def fail() -> None:
            await runtime.clock.sleep(timedelta(seconds=5))
            raise ValueError("broken")

        return App(tasks={"fail": fail})

    async def scenario() -> None:
        async with World() as world:
            await world.start("bad", build, None, "bad:1")
            await world.sleep(timedelta(hours=1))

    with pytest.raises(ExceptionGroup) as caught:
        run_virtual(scenario())
    [ended] = caught.value.exceptions
    assert isinstance(ended, RootTaskEndedError)
    assert str(ended.__cause__) == "broken"


def test_the_same_seed_gives_the_same_ids_and_a_restart_a_new_boot() -> None:
    async def scenario(seed: int) -> list[str]:
        ids = []
        async with World(seed=seed) as world:
            for _ in range(2):
                running = await world.start("echo", build_echo, Echo(), "echo:1")
                ids.append(running.runtime.boot_id)
                await world.stop("echo")
        return ids

    first, again, other = (run_virtual(scenario(seed)) for seed in (1, 1, 2))

    assert first == again
    assert len({*first, *other}) == 4


def test_readiness_follows_the_app() -> None:
    def build(settings: None, runtime: Runtime) -> App:
        async def ready() -> None:
            await runtime.clock.sleep(timedelta(seconds=30))

        return App(ready=ready)

    async def scenario() -> tuple[bool, bool, bool]:
        async with World() as world:
            running = await world.start("slow", build, None, "slow:1")
            health = running.runtime.health
            await world.sleep(timedelta(seconds=29))
            before = health.serving()
            await world.sleep(timedelta(seconds=2))
            after = health.serving()
            await world.stop("slow")
            return before, after, health.serving()

    assert run_virtual(scenario()) == (False, True, False)


def test_until_gives_up_in_simulated_time() -> None:
    async def scenario() -> float:
        async with World() as world:
            with pytest.raises(TimeoutError):
                await world.until(
                    lambda: False, within=timedelta(minutes=10), every=timedelta(seconds=1)
                )
            return world.clock.monotonic()

    assert run_virtual(scenario()) == pytest.approx(600)
