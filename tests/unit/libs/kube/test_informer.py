"""Informers against the simulator's API server in process, in virtual time."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from libs.domain.errors import RevisionGone, Unavailable
from libs.kube.api import JSON, NODE_POOLS, NODES, KubeApi, Resource
from libs.kube.crd_files import read_crds
from libs.kube.informer import Informers, ObjectKey
from libs.kube.objects.decoding import BrokenObject
from libs.kube.objects.kinds import KubeObject
from libs.runtime.clock import LoopClock
from libs.runtime.randomness import Random
from libs.runtime.virtual import run_virtual
from services.simulator.core.api.server import ApiServer
from tests.support.memory_api import MemoryKubeApi, new_server

CLOCK = LoopClock(datetime(2026, 1, 1, tzinfo=UTC))
CRDS = "customresourcedefinitions.apiextensions.k8s.io"


class Seen:
    """A sink that remembers labels by name, and everything it was told in order."""

    def __init__(self) -> None:
        self.objects: dict[str, KubeObject] = {}
        self.told: list[str] = []
        self.broken: list[BrokenObject] = []

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        self.told.append(f"upsert {obj.metadata.name}")
        self.objects[obj.metadata.name] = obj

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        self.told.append(f"remove {key.name}")
        del self.objects[key.name]

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        self.broken.append(broken)


class Line:
    """A port whose answers a test may replace: each fault is used once, by the next request."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self.faults: list[Callable[[str, Mapping[str, str]], Awaitable[bytes | None]]] = []
        self.requests: list[Mapping[str, str]] = []

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        self.requests.append(query or {})
        if self.faults:
            answer = await self.faults.pop(0)(path, query or {})
            if answer is not None:
                return answer
        return await self._api.request(
            method, path, query=query, body=body, content_type=content_type
        )

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        return self._api.watch(path, query=query)


class World:
    """A server with nodes, a line to it, and informers that report to `seen`."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.api = MemoryKubeApi(server)
        self.line = Line(self.api)
        self.seen = Seen()
        self.informers = Informers(self.line, (NODES, NODE_POOLS), self.seen, CLOCK, Random(1))

    def create(self, *names: str) -> None:
        for name in names:
            self.server.direct.create("nodes", {"metadata": {"name": name}})

    def delete(self, *names: str) -> None:
        for name in names:
            self.server.direct.delete("nodes", name)

    def label(self, name: str, value: str) -> None:
        self.server.direct.patch("nodes", name, {"metadata": {"labels": {"v": value}}})

    def names(self) -> list[str]:
        return sorted(self.seen.objects)


def in_world(test: Callable[[World], Awaitable[None]]) -> None:
    """Run a test with its informers beside it."""

    async def main() -> None:
        world = World(new_server(CLOCK))
        async with _running(world):
            await test(world)

    run_virtual(main(), limit=timedelta(hours=12))


@asynccontextmanager
async def _running(world: World) -> AsyncIterator[None]:
    task = asyncio.create_task(world.informers.run(), name="informers")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def passed(seconds: float = 0.01) -> None:
    await CLOCK.sleep(timedelta(seconds=seconds))


def test_a_list_and_the_events_after_it_reach_the_sink() -> None:
    async def test(world: World) -> None:
        world.create("a", "b")
        await world.informers.wait_synced()
        assert world.names() == ["a", "b"]
        world.create("c")
        world.label("a", "new")
        world.delete("b")
        await passed()
        assert world.names() == ["a", "c"]
        assert world.seen.objects["a"].metadata.labels["v"] == "new"

    in_world(test)


def test_a_large_kind_is_listed_in_pages() -> None:
    async def test(world: World) -> None:
        world.create(*(f"n{number}" for number in range(1201)))
        await world.informers.wait_synced()
        assert len(world.names()) == 1201
        assert sum("continue" in query for query in world.line.requests) == 2

    in_world(test)


def test_events_missed_while_the_line_was_cut_are_caught_up_without_a_new_list() -> None:
    async def test(world: World) -> None:
        world.create("a", "b")
        await world.informers.wait_synced()
        lists = len(world.line.requests)
        world.api.cut()
        world.create("c")
        world.delete("a")
        await passed(60)
        assert world.names() == ["a", "b"]
        world.api.cut(False)
        await passed(30)
        assert world.names() == ["b", "c"]
        assert len(world.line.requests) == lists

    in_world(test)


def test_a_forgotten_revision_lists_anew_and_removes_what_vanished() -> None:
    async def test(world: World) -> None:
        world.create("a", "b", "c")
        await world.informers.wait_synced()
        world.api.cut()
        world.delete("a")
        world.create("d")
        world.server.store.storage.compact()
        world.server.store.storage.forget()
        world.api.cut(False)
        await passed(60)
        assert world.names() == ["b", "c", "d"]
        assert "remove a" in world.seen.told

    in_world(test)


def test_a_name_used_again_is_removed_before_the_new_object_is_told() -> None:
    async def test(world: World) -> None:
        world.create("a", "b", "c")
        await world.informers.wait_synced()
        old = world.seen.objects["a"].metadata.uid
        world.api.cut()
        world.delete("a")
        world.create("a")
        world.server.store.storage.compact()
        world.server.store.storage.forget()
        world.api.cut(False)
        await passed(60)
        told = world.seen.told
        assert world.seen.objects["a"].metadata.uid != old
        assert told.index("remove a") + 1 == len(told) - 1 - told[::-1].index("upsert a")

    in_world(test)


async def _empty(path: str, query: Mapping[str, str]) -> bytes:
    return b'{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}'


async def _gone(path: str, query: Mapping[str, str]) -> bytes:
    raise RevisionGone("the continue token is too old")


async def _busy(path: str, query: Mapping[str, str]) -> bytes:
    raise Unavailable("too many requests", retry_after=timedelta(seconds=40))


async def _truncated(path: str, query: Mapping[str, str]) -> bytes:
    return b'{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"me'


async def _unharmed(path: str, query: Mapping[str, str]) -> None:
    return None


def test_a_list_that_lost_over_half_is_not_taken_when_the_next_one_has_it_all() -> None:
    async def test(world: World) -> None:
        world.create("a", "b", "c")
        await world.informers.wait_synced()
        world.line.faults = [_empty]
        await world.informers.relist(NODES)
        assert world.names() == ["a", "b", "c"]
        assert not [line for line in world.seen.told if line.startswith("remove")]

    in_world(test)


def test_a_list_that_lost_over_half_is_taken_when_the_next_one_confirms_it() -> None:
    async def test(world: World) -> None:
        world.create("a", "b", "c")
        await world.informers.wait_synced()
        world.line.faults = [_empty, _empty]
        await world.informers.relist(NODES)
        assert world.names() == []

    in_world(test)


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param([_gone], id="revision gone at the first page"),
        pytest.param([_unharmed, _gone], id="revision gone in mid list"),
        pytest.param([_busy, _busy], id="too many requests"),
        pytest.param([_truncated], id="truncated JSON"),
    ],
)
def test_a_list_that_fails_is_begun_again(
    faults: list[Callable[[str, Mapping[str, str]], Awaitable[bytes | None]]],
) -> None:
    async def test(world: World) -> None:
        await world.informers.wait_synced()
        world.create(*(f"n{number}" for number in range(600)))
        world.line.faults = list(faults)
        await world.informers.relist(NODES)
        await passed()
        assert len(world.names()) == 600
        assert world.line.faults == []

    in_world(test)


def test_a_server_that_asks_for_a_wait_gets_it() -> None:
    async def test(world: World) -> None:
        await world.informers.wait_synced()
        world.line.faults = [_busy]
        began = CLOCK.monotonic()
        await world.informers.relist(NODES)
        assert CLOCK.monotonic() - began >= 40

    in_world(test)


def test_a_wish_to_list_while_a_list_is_under_way_is_met_by_another_list() -> None:
    async def test(world: World) -> None:
        await world.informers.wait_synced()
        first = asyncio.create_task(world.informers.relist(NODES), name="first")
        await passed(0)
        lists = len(world.line.requests)
        await world.informers.relist(NODES)
        await first
        assert len(world.line.requests) > lists

    in_world(test)


def test_a_kind_that_is_not_installed_is_synced_and_waited_for() -> None:
    async def test(world: World) -> None:
        world.server.direct.delete(CRDS, "nodepools.karpenter.sh")
        await world.informers.wait_synced()
        await passed(3600)
        world.server.direct.create(CRDS, read_crds()["NodePool"])
        world.server.direct.create("nodepools.karpenter.sh", _nodepool("late"))
        await passed(30)
        assert world.names() == ["late"]

    in_world(test)


def test_watches_go_on_through_hours_of_silence() -> None:
    async def test(world: World) -> None:
        world.create("a")
        await world.informers.wait_synced()
        lists = len(world.line.requests)
        await passed(3 * 3600)
        world.create("b")
        await passed(1)
        assert world.names() == ["a", "b"]
        assert len(world.line.requests) == lists

    in_world(test)


def test_an_object_that_cannot_be_read_is_set_aside_and_the_others_are_taken() -> None:
    broken = b'{"metadata":{"name":"odd"},"spec":{"unschedulable":"perhaps"}}'
    listed = b'{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}},%s]}' % broken

    async def answer(path: str, query: Mapping[str, str]) -> bytes:
        return listed

    async def test(world: World) -> None:
        await world.informers.wait_synced()
        world.line.faults = [answer]
        await world.informers.relist(NODES)
        assert "a" in world.names()
        assert [found.name for found in world.seen.broken] == ["odd"]

    in_world(test)


def _nodepool(name: str) -> dict[str, Any]:
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    spec = {"nodeClassRef": reference, "requirements": []}
    return {
        "apiVersion": NODE_POOLS.api_version,
        "kind": NODE_POOLS.kind,
        "metadata": {"name": name},
        "spec": {"template": {"spec": spec}},
    }
