"""One client's connection: HTTP/1.1 with keep-alive, one request at a time.

Apart from aiohttp's client because sixteen of those need a core of their own, which on a small
machine is the server's. It reads only what an API server answers to writes: a status line, headers
and a body of known length.
"""

import asyncio

from libs.domain.errors import Unavailable

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


class Connection(asyncio.Protocol):
    """Sends requests and gives answers; made by `connect`."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self._waiting: asyncio.Future[tuple[int, bytes]] | None = None

    async def send(self, method: str, path: str, body: bytes, content_type: str) -> int:
        """Return the status of the answer.

        Raises:
            Unavailable: the server hung up or answers something else than HTTP with a length.
        """
        assert self._transport is not None
        self._waiting = asyncio.get_running_loop().create_future()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: simulator\r\nUser-Agent: joiner-bench\r\n"
            f"Accept: application/json\r\nContent-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._transport.write(head.encode() + body)
        status, _body = await self._waiting
        return status

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Collect the answer, and hand it over once it is complete."""
        self._buffer += data
        end = self._buffer.find(_HEAD_END)
        if end < 0 or self._waiting is None or self._waiting.done():
            return
        head = self._buffer[:end].lower()
        found = head.find(_LENGTH)
        if found < 0:
            self._waiting.set_exception(Unavailable("an answer has no length"))
            return
        length = int(head[found + len(_LENGTH) :].split(b"\r\n", 1)[0])
        until = end + len(_HEAD_END) + length
        if len(self._buffer) >= until:
            body = self._buffer[end + len(_HEAD_END) : until]
            self._buffer = self._buffer[until:]
            self._waiting.set_result((int(head.split(b" ", 2)[1]), body))

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits for an answer that none will come."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(Unavailable(f"the server hung up: {exc}"))


async def connect(address: str) -> Connection:
    """Return a connection to `host:port`."""
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    _transport, connection = await loop.create_connection(Connection, host, int(port))
    return connection
