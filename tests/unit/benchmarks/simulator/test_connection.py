"""The lean client reads what a server answers to writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from benchmarks.simulator.connection import connect
from libs.domain.errors import Unavailable


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[str]:
    """Answer one connection's requests with these bytes, each in two pieces."""

    writers: list[asyncio.StreamWriter] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        for answer in answers:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer[:20])
            await writer.drain()
            writer.write(answer[20:])

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        yield f"{host}:{port}"
        for writer in writers:
            writer.close()
            await writer.wait_closed()


async def test_answers_follow_each_other_on_one_connection() -> None:
    made = b"HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nbody"
    empty = b"HTTP/1.1 409 Conflict\r\ncontent-length:0\r\n\r\n"
    async with serving(made, empty) as address:
        connection = await connect(address)

        found = [await connection.send("POST", "/p", b"", "application/json") for _ in range(2)]

        connection.close()
    assert found == [201, 409]


async def test_an_answer_without_a_length_is_refused() -> None:
    async with serving(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n") as address:
        connection = await connect(address)

        with pytest.raises(Unavailable, match="no length"):
            await connection.send("POST", "/p", b"", "application/json")
        connection.close()
