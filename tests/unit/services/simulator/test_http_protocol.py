"""Bytes on a connection that are no request, or a large one."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from libs.runtime.clock import SystemClock
from services.simulator.http import Place, start
from tests.unit.services.simulator.cluster import Cluster

HOST = b"Host: x\r\nConnection: close\r\n"
MAPS = b"/api/v1/namespaces/default/configmaps"


@pytest_asyncio.fixture
async def port() -> AsyncIterator[int]:
    runner = await start(Cluster().server, SystemClock(), Place(host="127.0.0.1", port=0))
    yield runner.addresses[0][1]
    await runner.cleanup()


async def send(port: int, data: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    answered = await reader.read()
    writer.close()
    await writer.wait_closed()
    head, _, body = answered.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("data", "status"),
    [
        pytest.param(b"BREW /api HTTP/1.1\r\n" + HOST + b"\r\n", 405, id="no such method"),
        pytest.param(b"\x00\x01\r\n\r\n", 400, id="no text"),
        pytest.param(b"GET /api HTTP/1.1\r\n\r\n", 400, id="no host"),
        pytest.param(
            b"GET /api HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n", 400, id="length"
        ),
        pytest.param(b"GET /%zz HTTP/1.1\r\n" + HOST + b"\r\n", 400, id="no escape"),
        pytest.param(
            b"POST " + MAPS + b" HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            500,
            id="no chunk",
        ),
    ],
)
async def test_what_is_no_request_gets_a_status_and_no_log(
    port: int, data: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "aiohttp"):
        answered, body = await send(port, data)

    assert (answered, json.loads(body)["kind"]) == (status, "Status")
    assert not [one for one in caplog.records if one.levelno >= logging.WARNING]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET /api/v1/nodes?x=%s HTTP/1.1\r\n" % (b"a" * 100_000), id="line"),
        pytest.param(b"GET /api HTTP/1.1\r\nX: %s\r\n" % (b"a" * 100_000), id="header"),
        pytest.param(b"GET http://x/api HTTP/1.1\r\n", id="the form for proxies"),
    ],
)
async def test_large_requests_are_taken(port: int, data: bytes) -> None:
    status, _ = await send(port, data + HOST + b"\r\n")

    assert status == 200


@pytest.mark.asyncio
async def test_a_packed_body_is_taken_as_it_is(port: int) -> None:
    body = b'{"metadata":{"name":"m"}}'
    head = b"POST %s HTTP/1.1\r\n%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    status, _ = await send(port, head % (MAPS, HOST, len(body)) + body)

    assert status == 201


@pytest.mark.asyncio
async def test_a_client_that_waits_is_told_to_go_on(port: int) -> None:
    head = b"POST %s HTTP/1.1\r\n%sExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"
    _, answers = await send(port, head % (MAPS, HOST))
    strange, _ = await send(port, b"GET /api HTTP/1.1\r\n" + HOST + b"Expect: x\r\n\r\n")

    assert answers.startswith(b"HTTP/1.1 422")
    assert strange == 417
