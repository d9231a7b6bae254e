"""`MemoryKubeApi`: the port to Kubernetes on the simulator's API server, without sockets.

Keeps the laws of `libs.kube.api.KubeApi` as the real transport does, on any event loop, so that a
whole cluster with all services runs in simulated time.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from datetime import timedelta

from libs.domain.errors import Unavailable
from libs.kube.answers import checked_event, refusal
from libs.kube.api import JSON
from libs.kube.transport import Timeouts
from libs.runtime.randomness import Random
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.server import ApiServer
from services.simulator.sky import Sky

_REFUSED = 300
_BOOKMARK_PERIOD_SECONDS = 60.0
_TIMEOUTS = Timeouts()


class MemoryKubeApi:
    """One client of an in-process API server; `agent` becomes the field manager of its writes."""

    def __init__(self, server: ApiServer, agent: str = "joiner", sky: Sky | None = None) -> None:
        """Take the server, who asks, and the weather on the way; without a sky it is fine."""
        self._sky = sky or Sky(server.store.resources, Random(0))
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
        asked = self._request(method, path, query or {}, body or b"", content_type)
        await self._connected(method, path)
        answer = self._sky.refusal(asked) or self._server.handle(asked)
        await _pass_turn()
        if answer.status >= _REFUSED:
            raise refusal(answer.status, answer.body, retry_after=_retry_after(answer))
        return answer.body

    async def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Stream the events of a collection until the server, or `drop_watches`, ends it."""
        await _pass_turn()
        self._require_connection()
        asked = self._request("GET", path, {**query, "watch": "true"}, b"", JSON)
        await self._sky.calm()
        answer = self._sky.refusal(asked) or self._server.handle(asked)
        if answer.stream is None:
            raise refusal(answer.status, answer.body, retry_after=_retry_after(answer))
        self._streams.add(answer.stream)
        try:
            with self._sky.watching(asked, answer.stream):
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

    async def _connected(self, method: str, path: str) -> None:
        """Wait while the server answers nobody, as long as the real transport would."""
        if not self._sky.weather.paused:
            return
        patience = _TIMEOUTS.read if method == "GET" else _TIMEOUTS.write
        try:
            async with asyncio.timeout(patience.total_seconds()):
                await self._sky.calm()
        except TimeoutError:
            message = f"{method} {path} was not answered within {patience.total_seconds():g} s"
            raise Unavailable(message) from None

    def _request(
        self, method: str, path: str, query: Mapping[str, str], body: bytes, content_type: str
    ) -> Request:
        return Request(
            method=method,
            path=path,
            query={name: (value,) for name, value in query.items()},
            headers={"content-type": content_type, "accept": JSON, "user-agent": self._agent},
            body=body,
        )

    async def _lines(self, stream: Stream) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        stream.on_news(news.set)
        ends = None if stream.timeout_seconds is None else loop.time() + stream.timeout_seconds
        while True:
            news.clear()
            await self._sky.calm()
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
