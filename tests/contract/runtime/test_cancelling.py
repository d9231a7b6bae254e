"""Whoever waits for a peer can be stopped, however far the call has come."""

import asyncio
from datetime import timedelta
from typing import Any

from libs.runtime.clock import SystemClock
from libs.runtime.network import GrpcNetwork
from libs.runtime.timeouts import CallDeadlines


async def test_a_reader_of_a_peer_that_never_answers_lets_itself_be_cancelled() -> None:
    accepted: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1")
    port = silent.sockets[0].getsockname()[1]
    network = GrpcNetwork(None, CallDeadlines())
    try:
        call: Any = network.channel(f"127.0.0.1:{port}").stream_stream(
            "/joiner.test.v1.Echo/Chat"
        )()
        reading = asyncio.create_task(call.read())
        await SystemClock().sleep(timedelta(milliseconds=100))

        reading.cancel()
        await asyncio.wait([reading], timeout=10)

        assert reading.cancelled()
    finally:
        await network.close()
        for writer in accepted:
            writer.close()
        silent.close()
