"""The HTTP edge of the API server: aiohttp in, aiohttp out, watches as chunked lines of JSON.

It is apart because the API server knows neither sockets nor an event loop. Everything that waits
goes through the runtime's clock.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from aiohttp import web
from multidict import CIMultiDict

from libs.runtime.clock import Clock
from libs.runtime.randomness import Random
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.server import ApiServer
from services.simulator.sky import Sky

BODY_LIMIT = 3 * 1024 * 1024
"""Bytes of a request body; Kubernetes' own limit."""

_BOOKMARK_EVERY = timedelta(seconds=60)
_DEFAULT_TIMEOUT_SECONDS = 1800
_SHUTDOWN_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What is served, when, and in which weather."""

    server: ApiServer
    clock: Clock
    sky: Sky


async def start(
    server: ApiServer, clock: Clock, *, host: str, port: int, sky: Sky | None = None
) -> web.AppRunner:
    """Serve `server` on an address; port 0 picks a free one (`runner.addresses` tells).

    Requests go through the weather of `sky`, if there is any.

    Whoever starts it ends it with `await runner.cleanup()`.
    """
    runner = web.AppRunner(
        application(server, clock, sky),
        access_log=None,
        handler_cancellation=True,  # a client that goes away ends its watch at once
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return runner


def application(server: ApiServer, clock: Clock, sky: Sky | None = None) -> web.Application:
    """Return the web application that serves `server`; without a sky the weather is fine."""
    edge = Edge(server=server, clock=clock, sky=sky or Sky(server.store.resources, Random(0)))

    async def handle(incoming: web.Request) -> web.StreamResponse:
        try:
            request = await _read(incoming)
        except web.HTTPRequestEntityTooLarge:
            return _too_large()
        await edge.sky.calm()
        answer = edge.sky.refusal(request) or edge.server.handle(request)
        if answer.stream is not None:
            with edge.sky.watching(request, answer.stream):
                return await _stream(incoming, answer.stream, edge)
        return web.Response(status=answer.status, body=answer.body, headers=_headers(answer))

    app = web.Application(client_max_size=BODY_LIMIT)
    app.router.add_route("*", "/{path:.*}", handle)
    return app


def _too_large() -> web.Response:
    message = f"Request entity too large: limit is {BODY_LIMIT}"
    error = ApiError(413, "RequestEntityTooLarge", message)
    return web.json_response(error.status, status=413)


async def _read(incoming: web.Request) -> Request:
    query: dict[str, tuple[str, ...]] = {}
    for name in incoming.query:
        query[name] = tuple(incoming.query.getall(name))
    return Request(
        method=incoming.method,
        path=incoming.raw_path.partition("?")[0],
        query=query,
        headers={name.lower(): value for name, value in incoming.headers.items()},
        body=await incoming.read() if incoming.can_read_body else b"",
    )


def _headers(answer: Response) -> Mapping[str, str]:
    headers = CIMultiDict(answer.headers)
    headers["Content-Type"] = answer.content_type
    for warning in answer.warnings:
        headers.add("Warning", warning_header(warning))
    return headers


def warning_header(text: str) -> str:
    """Return a warning as a header value (RFC 7234, 5.5)."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'299 - "{escaped}"'


async def _stream(incoming: web.Request, stream: Stream, edge: Edge) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    news = asyncio.Event()
    stream.on_news(news.set)
    try:
        await response.prepare(incoming)
        timeout = (
            stream.timeout_seconds
            if stream.timeout_seconds is not None
            else _DEFAULT_TIMEOUT_SECONDS
        )
        ending: asyncio.Future[object] = asyncio.ensure_future(
            edge.clock.sleep(timedelta(seconds=timeout))
        )
        try:
            await _pump(response, stream, news, ending, edge)
        finally:
            ending.cancel()
    except ConnectionResetError:
        pass
    finally:
        stream.close()
    return response


async def _pump(
    response: web.StreamResponse,
    stream: Stream,
    news: asyncio.Event,
    ending: "asyncio.Future[object]",
    edge: Edge,
) -> None:
    while True:
        news.clear()
        await edge.sky.calm()
        chunk = stream.poll()
        if chunk:
            await response.write(chunk)
        if stream.closed or ending.done():
            return
        arrived: asyncio.Future[object] = asyncio.ensure_future(news.wait())
        tick: asyncio.Future[object] = asyncio.ensure_future(edge.clock.sleep(_BOOKMARK_EVERY))
        done, _ = await asyncio.wait({arrived, tick, ending}, return_when=asyncio.FIRST_COMPLETED)
        arrived.cancel()
        tick.cancel()
        if tick in done and stream.bookmarks and not news.is_set():
            await edge.sky.calm()
            await response.write(stream.bookmark(edge.server.store.storage.revision))
