"""The probe listener as a kubelet, Prometheus and strangers meet it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry, Gauge

from libs.runtime.health import OVERALL, Health
from libs.runtime.probe import ProbeServer


@asynccontextmanager
async def probing(*, ready: bool = True) -> AsyncIterator[int]:
    registry, health = CollectorRegistry(), Health()
    Gauge("size", "Of it.", registry=registry).set(3)
    await health.set(OVERALL, ready)
    server = ProbeServer(registry, health)
    try:
        yield await server.start("127.0.0.1:0")
    finally:
        await server.stop()


async def talk(port: int, request: bytes) -> tuple[str, dict[str, str], str]:
    """Send bytes and return status line, header and body of all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = (await reader.read()).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    return status, dict(line.split(": ", 1) for line in lines), body


def asked(line: str, *, ready: bool = True) -> tuple[str, dict[str, str], str]:
    async def ask() -> tuple[str, dict[str, str], str]:
        async with probing(ready=ready) as port:
            return await talk(port, f"{line}\r\nHost: it\r\n\r\n".encode())

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("line", "ready", "status", "body"),
    [
        pytest.param("GET /healthz HTTP/1.1", True, "200 OK", "ok\n", id="alive"),
        pytest.param("GET /healthz HTTP/1.1", False, "200 OK", "ok\n", id="alive, not ready"),
        pytest.param("GET /readyz HTTP/1.1", True, "200 OK", "ok\n", id="ready"),
        pytest.param("GET /readyz?why HTTP/1.0", True, "200 OK", "ok\n", id="with a query"),
        pytest.param(
            "GET /readyz HTTP/1.1", False, "503 Service Unavailable", "not ready\n", id="not ready"
        ),
        pytest.param("HEAD /readyz HTTP/1.1", True, "200 OK", "", id="head"),
        pytest.param("GET /secrets HTTP/1.1", True, "404 Not Found", "not found\n", id="unknown"),
        pytest.param(
            "POST /healthz HTTP/1.1",
            True,
            "405 Method Not Allowed",
            "only GET and HEAD\n",
            id="another method",
        ),
        pytest.param("hello", True, "400 Bad Request", "not an HTTP/1 request\n", id="no HTTP"),
    ],
)
def test_a_request_gets_its_answer(line: str, ready: bool, status: str, body: str) -> None:
    found = asked(line, ready=ready)

    assert found[0] == f"HTTP/1.1 {status}"
    assert found[2] == body


def test_metrics_are_served_in_the_format_that_prometheus_reads() -> None:
    _, header, body = asked("GET /metrics HTTP/1.1")

    assert header["Content-Type"].startswith("text/plain; version=")
    assert int(header["Content-Length"]) == len(body)
    assert "size 3.0\n" in body


def test_whoever_sends_more_than_a_request_or_less_keeps_nobody_else_waiting() -> None:
    async def ask() -> str:
        async with probing() as port:
            _, idle = await asyncio.open_connection("127.0.0.1", port)
            _, endless = await asyncio.open_connection("127.0.0.1", port)
            endless.write(b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 40_000)
            answered, _, _ = await talk(port, b"GET /healthz HTTP/1.1\r\n\r\n")
            idle.close()
            endless.close()
            return answered

    assert asyncio.run(ask()) == "HTTP/1.1 200 OK"
