"""What the recorder writes, drops and survives."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from libs.kube.api import NODES, PODS
from libs.kube.events import Event, EventRecorder, EventType, Involved, Rate
from libs.runtime.clock import LoopClock
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from tests.support.memory_api import MemoryKubeApi, new_server

CLOCK = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))


class World:
    def __init__(self) -> None:
        self.server = new_server(CLOCK)
        self.api = MemoryKubeApi(self.server)
        rates = {"Nominated": Rate(per_second=5, burst=10)}
        self.recorder = EventRecorder(self.api, CLOCK, Random(1), rates)

    async def written(self) -> list[Any]:
        await CLOCK.sleep(timedelta(seconds=1))
        return list(self.server.direct.list("events"))


def in_world(test: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        world = World()
        task = asyncio.create_task(world.recorder.run(), name="recorder")
        await test(world)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtual(main())


def an_event(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "about": Involved(resource=PODS, namespace="default", name="p", uid="u"),
        "type": EventType.WARNING,
        "reason": "FailedScheduling",
        "message": "no room",
        "dedupe": ("u",),
    }
    return Event(**{**fields, **changes})


def test_an_event_is_written_beside_its_object() -> None:
    async def test(world: World) -> None:
        world.recorder.record(an_event())
        (event,) = await world.written()
        assert event["metadata"]["namespace"] == "default"
        assert event["involvedObject"] == {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "default",
            "name": "p",
            "uid": "u",
        }
        assert (event["type"], event["reason"], event["message"], event["count"]) == (
            "Warning",
            "FailedScheduling",
            "no room",
            1,
        )
        assert event["source"]["component"] == "joiner"
        assert event["firstTimestamp"] == "2026-01-01T00:00:00Z"

    in_world(test)


def test_events_about_cluster_scoped_objects_are_in_the_default_namespace() -> None:
    async def test(world: World) -> None:
        world.recorder.record(an_event(about=Involved(resource=NODES, name="n" * 253)))
        (event,) = await world.written()
        assert event["metadata"]["namespace"] == "default"

    in_world(test)


def test_a_repetition_is_dropped_within_its_window_only() -> None:
    async def test(world: World) -> None:
        for message in ("first", "second"):
            world.recorder.record(an_event(message=message))
        assert [event["message"] for event in await world.written()] == ["first"]
        await CLOCK.sleep(timedelta(minutes=2))
        world.recorder.record(an_event(message="third"))
        messages = [event["message"] for event in await world.written()]
        assert sorted(messages) == ["first", "third"]

    in_world(test)


def test_events_without_dedupe_values_are_all_written() -> None:
    async def test(world: World) -> None:
        for _ in range(3):
            world.recorder.record(an_event(dedupe=()))
        assert len(await world.written()) == 3

    in_world(test)


def test_a_reason_with_a_rate_is_held_to_it() -> None:
    async def test(world: World) -> None:
        for number in range(30):
            world.recorder.record(an_event(reason="Nominated", dedupe=(str(number),)))
        assert len(await world.written()) == 10
        for number in range(30, 60):
            world.recorder.record(an_event(reason="Nominated", dedupe=(str(number),)))
        assert len(await world.written()) == 15

    in_world(test)


def test_an_event_that_the_server_refuses_does_not_stop_the_others() -> None:
    async def test(world: World) -> None:
        nowhere = Involved(resource=PODS, namespace="BAD NAME", name="p")
        world.recorder.record(an_event(about=nowhere, dedupe=()))
        world.recorder.record(an_event())
        assert len(await world.written()) == 1

    in_world(test)
