"""The probe listener: plaintext HTTP with health and metrics, nothing else.

HTTP and not gRPC because the kubelet's gRPC probes cannot do TLS and the main listener does nothing
else. `/healthz` answers as long as the event loop does; `/readyz` is the health board's overall
name.

The few lines of HTTP are here because a process is to answer soon after its start: three answers
without a body to read are no reason to load a web framework, which took a quarter of the start.
Each connection serves one request.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from libs.runtime.health import Health

_LONGEST_HEAD_BYTES = 16 * 1024
_WITHIN = timedelta(seconds=10)
"""Longest that one request may take: who sends nothing or reads nothing holds no connection."""
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    body: bytes
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = _TEXT


class ProbeServer:
    """Serves the probes and the metrics of one process."""

    def __init__(self, registry: CollectorRegistry, health: Health) -> None:
        self._registry = registry
        self._health = health
        self._server: asyncio.Server | None = None

    async def start(self, address: str) -> int:
        """Listen at `host:port` and return the port.

        Raises:
            OSError: the address cannot be bound.
        """
        host, _, port = address.rpartition(":")
        self._server = await asyncio.start_server(
            self._serve, host.strip("[]"), int(port), limit=_LONGEST_HEAD_BYTES
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_WITHIN.total_seconds()):
                head = await _head(reader)
                method, _, rest = head.partition(" ")
                answer = await self._answer(method, rest)
                writer.write(_written(answer, with_body=method != "HEAD"))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            pass  # nobody is left to be told
        finally:
            writer.close()

    async def _answer(self, method: str, rest: str) -> _Answer:
        target, _, version = rest.partition(" ")
        if not version.startswith("HTTP/1."):
            return _Answer(status=HTTPStatus.BAD_REQUEST, body=b"not an HTTP/1 request\n")
        if method not in ("GET", "HEAD"):
            return _Answer(status=HTTPStatus.METHOD_NOT_ALLOWED, body=b"only GET and HEAD\n")
        match target.partition("?")[0]:
            case "/healthz":
                return _Answer(body=b"ok\n")
            case "/readyz" if self._health.serving():
                return _Answer(body=b"ok\n")
            case "/readyz":
                return _Answer(status=HTTPStatus.SERVICE_UNAVAILABLE, body=b"not ready\n")
            case "/metrics":
                # thousands of series take long enough to delay every call: not on the loop
                body = await asyncio.to_thread(generate_latest, self._registry)
                return _Answer(body=body, content_type=CONTENT_TYPE_LATEST)
        return _Answer(status=HTTPStatus.NOT_FOUND, body=b"not found\n")


async def _head(reader: asyncio.StreamReader) -> str:
    """Return the first line of a request; empty if its head is too long. A body is not read."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return ""
    return head.split(b"\r\n", 1)[0].decode("latin-1")


def _written(answer: _Answer, *, with_body: bool) -> bytes:
    lines = (
        f"HTTP/1.1 {answer.status} {answer.status.phrase}",
        f"Content-Type: {answer.content_type}",
        f"Content-Length: {len(answer.body)}",
        "Connection: close",
        "\r\n",
    )
    return "\r\n".join(lines).encode("latin-1") + (answer.body if with_body else b"")
