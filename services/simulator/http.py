"""The HTTP edge of the API server: aiohttp in, aiohttp out, watches as chunked lines of JSON.

It is apart because the API server knows neither sockets nor an event loop. Everything that waits
goes through the runtime's clock.
"""

import asyncio
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage
from multidict import CIMultiDict

from libs.runtime.clock import Clock
from libs.runtime.randomness import Random
from services.simulator.core.api.errors import ApiError, internal
from services.simulator.core.api.messages import Request, Response, Stream
from services.simulator.core.api.server import ApiServer
from services.simulator.http_protocol import (
    BODY_LIMIT,
    Server,
    meet_expectation,
    status_response,
    too_large,
)
from services.simulator.sky import Sky

_WRONG_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_BOOKMARK_EVERY = timedelta(seconds=60)
_DEFAULT_TIMEOUT_SECONDS = 1800
_SHUTDOWN_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """What is served, when, and in which weather."""

    server: ApiServer
    clock: Clock
    sky: Sky


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the API is served; port 0 picks a free one."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    """Without it, plain HTTP."""


async def start(
    server: ApiServer, clock: Clock, place: Place, *, sky: Sky | None = None
) -> web.ServerRunner:
    """Serve `server` at a place (`runner.addresses` tells which port it became).

    Requests go through the weather of `sky`, if there is any.

    Whoever starts it ends it with `await runner.cleanup()`.
    """
    runner = new_runner(server, clock, sky)
    await runner.setup()
    await web.TCPSite(runner, place.host, place.port, ssl_context=place.tls).start()
    return runner


def new_runner(server: ApiServer, clock: Clock, sky: Sky | None = None) -> web.ServerRunner:
    """Return what serves `server` on the sites that it is given; without a sky, in fine weather.

    There are no routes: paths are the server's to read, and a router costs as much as they do.
    """
    edge = Edge(server=server, clock=clock, sky=sky or Sky(server.store.resources, Random(0)))

    async def handle(incoming: web.BaseRequest) -> web.StreamResponse:
        unmet = await meet_expectation(incoming)
        if unmet is not None:
            return unmet
        try:
            request = await _read(incoming)
        except ApiError as error:
            return status_response(error)  # what is left of the request is not read
        await edge.sky.calm()
        answer = edge.sky.refusal(request) or edge.server.handle(request)
        if answer.stream is not None:
            with edge.sky.watching(request, answer.stream):
                return await _stream(incoming, answer.stream, edge)
        if answer.parts is not None:
            return await _send_parts(incoming, answer, answer.parts, edge.clock)
        return web.Response(status=answer.status, body=answer.body, headers=_headers(answer))

    return web.ServerRunner(
        Server(
            handle,
            request_factory=_request,
            handler_cancellation=True,  # a client that goes away ends its watch at once
        ),
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: "asyncio.Task[None]",
) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(
        message, payload, protocol, writer, task, loop, client_max_size=BODY_LIMIT
    )


async def _send_parts(
    incoming: web.BaseRequest, answer: Response, parts: Iterator[bytes], clock: Clock
) -> web.StreamResponse:
    """Send a list while it is made, with others' requests between the parts."""
    response = web.StreamResponse(status=answer.status, headers=_headers(answer))
    try:
        await response.prepare(incoming)
        for part in parts:
            await response.write(part)
            await clock.sleep(timedelta())
        await response.write_eof()
    except ConnectionResetError:
        pass  # who asked is gone
    return response


async def _read(incoming: web.BaseRequest) -> Request:
    """Return what was asked; raises the Status of what cannot be."""
    query: dict[str, tuple[str, ...]] = {}
    for name in incoming.query:
        query[name] = tuple(incoming.query.getall(name))
    headers = [(name.lower(), value) for name, value in incoming.headers.items()]
    return Request(
        method=incoming.method,
        path=_path(incoming.raw_path),
        query=query,
        headers=dict(headers),
        body=await _body(incoming) if incoming.can_read_body else b"",
        takes_parts=True,
        impersonation=tuple(one for one in headers if one[0].startswith("impersonate-")),
        source=incoming.remote or "",
    )


def _path(target: str) -> str:
    """Return the path of a request line's target; raises the 400 of a wrong escape."""
    if not target.startswith("/"):
        target = urlsplit(target).path  # a proxy's form, with the host in it
    path = target.partition("?")[0]
    if "%" in path and _WRONG_ESCAPE.search(path):
        raise ApiError(400, "BadRequest", "the path has an invalid escape")
    return path


async def _body(incoming: web.BaseRequest) -> bytes:
    try:
        return await incoming.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise too_large() from error
    except web.RequestPayloadError as error:
        raise internal("invalid byte in chunk length") from error


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


class _Bell:
    """Wakes a watch: when there is news, when a bookmark is due, when its time is over."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()
        self.bookmark_due = False
        self.over = False

    async def toll(self, clock: Clock, left: timedelta) -> None:
        """Ring for bookmarks until what is left of the time is over."""
        while left > _BOOKMARK_EVERY:
            await clock.sleep(_BOOKMARK_EVERY)
            left -= _BOOKMARK_EVERY
            self.bookmark_due = True
            self.rung.set()
        await clock.sleep(left)
        self.over = True
        self.rung.set()


async def _stream(incoming: web.BaseRequest, stream: Stream, edge: Edge) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    bell = _Bell()
    stream.on_news(bell.rung.set)
    seconds = stream.timeout_seconds
    timeout = timedelta(seconds=_DEFAULT_TIMEOUT_SECONDS if seconds is None else seconds)
    tolling = asyncio.ensure_future(bell.toll(edge.clock, timeout))
    try:
        await response.prepare(incoming)
        await _pump(response, stream, bell, edge)
    except ConnectionResetError:
        pass
    finally:
        tolling.cancel()
        stream.close()
    return response


async def _pump(response: web.StreamResponse, stream: Stream, bell: _Bell, edge: Edge) -> None:
    while True:
        bell.rung.clear()
        await edge.sky.calm()
        chunk = stream.poll()
        if chunk:
            await response.write(chunk)
        if stream.closed or bell.over:
            return
        if bell.bookmark_due:
            bell.bookmark_due = False
            if stream.bookmarks:
                await response.write(stream.bookmark(edge.server.store.storage.revision))
        await bell.rung.wait()
