"""`MemoryKubeApi`: the port to Kubernetes on the simulator's API server, without sockets.

Keeps the laws of `libs.kube.api.KubeApi` as the real transport does, on any event loop, so that a
whole cluster runs in simulated time. `CountingKubeApi` tells a test of mutations and lets it end a
service just before or just after any of them.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any

from libs.domain.errors import Unavailable
from libs.kube.answers import checked_event, refusal
from libs.kube.api import JSON, KubeApi
from libs.kube.crd_files import read_crds
from libs.runtime.app import new_id
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.server import ApiServer

MUTATIONS = frozenset({"POST", "PUT", "PATCH", "DELETE"})

_REFUSED = 300
_BOOKMARK_PERIOD_SECONDS = 60.0


class MemoryKubeApi:
    """One client of an in-process API server; `agent` becomes the field manager of its writes."""

    def __init__(self, server: ApiServer, agent: str = "joiner") -> None:
        self._server = server
        self._agent = agent
        self._streams: set[Stream] = set()
        self._cut = False
        self.lag = timedelta()
        """How late watches tell of changes; requests are answered at once all the same."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Let the server handle one request; other tasks run before and after it."""
        await _pass_turn()
        self._require_connection()
        answer = self._handle(method, path, query or {}, body or b"", content_type)
        await _pass_turn()
        if answer.status >= _REFUSED:
            raise refusal(answer.status, answer.body, retry_after=_retry_after(answer))
        return answer.body

    async def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Stream the events of a collection until the server, or `drop_watches`, ends it."""
        await _pass_turn()
        self._require_connection()
        answer = self._handle("GET", path, {**query, "watch": "true"}, b"", JSON)
        if answer.stream is None:
            raise refusal(answer.status, answer.body, retry_after=_retry_after(answer))
        self._streams.add(answer.stream)
        try:
            async for line in self._lines(answer.stream):
                yield checked_event(line)
        finally:
            self._streams.discard(answer.stream)
            answer.stream.close()

    def drop_watches(self) -> None:
        """End every watch, as a server that restarts does."""
        for stream in tuple(self._streams):
            stream.close()

    def cut(self, cut: bool = True) -> None:
        """Make every request fail and end every watch; `cut(False)` mends the line."""
        self._cut = cut
        if cut:
            self.drop_watches()

    def _require_connection(self) -> None:
        if self._cut:
            raise Unavailable("the line to the API server is cut")

    def _handle(
        self, method: str, path: str, query: Mapping[str, str], body: bytes, content_type: str
    ) -> Response:
        return self._server.handle(
            Request(
                method=method,
                path=path,
                query={name: (value,) for name, value in query.items()},
                headers={"content-type": content_type, "accept": JSON, "user-agent": self._agent},
                body=body,
            )
        )

    async def _lines(self, stream: Stream) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        stream.on_news(news.set)
        ends = None if stream.timeout_seconds is None else loop.time() + stream.timeout_seconds
        while True:
            news.clear()
            news_bytes = stream.poll()
            if news_bytes and self.lag:
                await _wait(self.lag)
            for line in filter(None, news_bytes.split(b"\n")):
                yield line
            if stream.closed or (ends is not None and loop.time() >= ends):
                return
            bookmark = loop.time() + _BOOKMARK_PERIOD_SECONDS
            try:
                async with asyncio.timeout_at(bookmark if ends is None else min(bookmark, ends)):
                    await news.wait()
            except TimeoutError:
                if stream.bookmarks:
                    yield stream.bookmark(self._server.store.storage.revision).rstrip(b"\n")


class CountingKubeApi:
    """Another port, whose every mutation happens within `noted(what)`; `what` is method and path.

    Entered just before it is sent, left just after it was carried out and before its answer is
    seen. What is raised there is raised in the caller's place.
    """

    def __init__(
        self, api: KubeApi, noted: Callable[[str], contextlib.AbstractContextManager[None]]
    ) -> None:
        self._api = api
        self._noted = noted

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Pass on one request."""
        mutates = method in MUTATIONS
        with self._noted(f"{method} {path}") if mutates else contextlib.nullcontext():
            return await self._api.request(
                method, path, query=query, body=body, content_type=content_type
            )

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Pass on a watch."""
        return self._api.watch(path, query=query)


async def _pass_turn() -> None:
    """Let every task that is ready run, as the wait for a socket would."""
    turn = asyncio.Event()
    asyncio.get_running_loop().call_soon(turn.set)
    await turn.wait()


async def _wait(span: timedelta) -> None:
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(span.total_seconds(), over.set)
    await over.wait()


def _retry_after(answer: Response) -> timedelta | None:
    seconds = answer.headers.get("Retry-After") or answer.headers.get("retry-after")
    return timedelta(seconds=int(seconds)) if seconds else None


@cache
def _crds() -> tuple[dict[str, Any], ...]:
    return tuple(read_crds().values())


def new_server(clock: Clock, seed: int = 0, plugins: frozenset[str] = frozenset()) -> ApiServer:
    """Return an API server on simulated time, with our CRDs, that makes the same ids each run."""
    random = Random(seed)
    server = ApiServer(
        clock.now,
        lambda: new_id(random),
        lambda: f"{random.randrange(36**5):05x}"[-5:],
        plugins=plugins,
    )
    for crd in _crds():
        server.direct.create("customresourcedefinitions.apiextensions.k8s.io", crd)
    return server
