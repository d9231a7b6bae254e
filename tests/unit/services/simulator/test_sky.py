"""What the weather does to requests, over HTTP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import pytest

from libs.runtime.clock import SystemClock
from libs.runtime.randomness import Random
from services.simulator import http
from services.simulator.core.api.server import ApiServer
from services.simulator.core.weather import Failure, Weather
from services.simulator.sky import Sky
from tests.unit.services.simulator.cluster import Cluster

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"


@dataclass(frozen=True)
class Outside:
    """A client, and the weather."""

    server: ApiServer
    sky: Sky
    session: aiohttp.ClientSession

    async def status(self, path: str = PODS, method: str = "GET", agent: str = "kubectl/1") -> int:
        headers = {"User-Agent": agent}
        async with self.session.request(method, path, headers=headers) as answer:
            return answer.status


@contextlib.asynccontextmanager
async def outside(*failures: Failure) -> AsyncIterator[Outside]:
    server = Cluster().server
    sky = Sky(server.store.resources, Random(0))
    sky.change(Weather(failures=failures))
    runner = await http.start(server, SystemClock(), http.Place(host="127.0.0.1", port=0), sky=sky)
    host, port = runner.addresses[0][:2]
    try:
        async with aiohttp.ClientSession(f"http://{host}:{port}") as session:
            yield Outside(server, sky, session)
    finally:
        await runner.cleanup()


async def test_a_throttled_client_is_told_how_long_to_wait_as_by_kubernetes() -> None:
    async with (
        outside(Failure(code=429, retry_after=3)) as there,
        there.session.get(PODS) as answer,
    ):
        text = await answer.text()

    assert (answer.status, answer.headers["Retry-After"]) == (429, "3")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert text == "Too many requests, please try again later.\n"


async def test_an_error_is_a_status() -> None:
    async with outside(Failure(code=503)) as there, there.session.get(PODS) as answer:
        status = await answer.json()

    assert (status["kind"], status["code"]) == ("Status", 503)
    assert status["reason"] == "ServiceUnavailable"


@pytest.mark.parametrize(
    ("failure", "hit"),
    [
        pytest.param(Failure(code=500), [500, 500, 500, 500], id="all"),
        pytest.param(
            Failure(code=500, resources=frozenset({"pods"})), [500, 200, 500, 200], id="pods"
        ),
        pytest.param(
            Failure(code=500, verbs=frozenset({"list"})), [500, 500, 404, 200], id="lists"
        ),
        pytest.param(Failure(code=500, clients=("joiner",)), [200, 200, 404, 200], id="joiner's"),
        pytest.param(Failure(code=500, share=1e-9), [200, 200, 404, 200], id="next to none"),
    ],
)
async def test_failures_befall_whom_they_concern(failure: Failure, hit: list[int]) -> None:
    async with outside(failure) as there:
        paths = (PODS, NODES, "/api/v1/namespaces/default/pods/web", "/version")

        assert [await there.status(path) for path in paths] == hit


async def test_a_share_is_a_share_and_its_lots_are_the_seed_s() -> None:
    async def statuses() -> list[int]:
        async with outside(Failure(code=503, share=0.25)) as there:
            return [await there.status() for _ in range(80)]

    first = await statuses()

    assert 10 <= first.count(503) <= 30
    assert first == await statuses()


async def test_requests_and_watches_hang_while_the_api_pauses() -> None:
    async with outside() as there, there.session.get(f"{PODS}?watch=1") as watch:
        there.sky.change(Weather(pauses=1))
        created = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
        waiting = asyncio.create_task(there.status(NODES))
        told = asyncio.create_task(watch.content.readline())
        there.server.direct.create("pods", created, "default")
        done, _ = await asyncio.wait({waiting, told}, timeout=0.05)
        assert done == set()

        there.sky.change(Weather())

        assert await waiting == 200
        assert b'"ADDED"' in await told


@pytest.mark.parametrize(
    ("resources", "cut"),
    [(frozenset(), {PODS, NODES}), (frozenset({"pods"}), {PODS}), (frozenset({"leases"}), set())],
)
async def test_watches_are_cut(resources: frozenset[str], cut: set[str]) -> None:
    async with outside() as there:
        ends = {}
        async with contextlib.AsyncExitStack() as open_:
            for path in (PODS, NODES):
                answer = await open_.enter_async_context(
                    there.session.get(f"{path}?watch=1&timeoutSeconds=30")
                )
                ends[path] = asyncio.create_task(answer.content.read())
            # A watch is open to us as soon as its headers are here.
            assert there.sky.cut_watches(resources) == len(cut)
            await asyncio.wait_for(asyncio.gather(*(ends[path] for path in cut)), 30)
            assert {path for path, end in ends.items() if end.done()} == cut
            for end in ends.values():
                end.cancel()
