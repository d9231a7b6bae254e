"""A service of four methods, one per call kind, without a proto of its own: bytes in, bytes out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc

from libs.domain.errors import InvalidRequest
from libs.runtime.authorization import caller
from libs.runtime.guard import Handler

SERVICE = "joiner.test.Echo"

Context = grpc.aio.ServicerContext[Any, Any]


class Echo:
    """Answers what it was asked; `fail_next` makes every method raise once."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.on_begin: Callable[[], None] = lambda: None
        self.remaining: list[float | None] = []
        self.cancelled = asyncio.Event()
        self.entered = asyncio.Event()

    def fail_next(self, error: Exception) -> None:
        self.failure = error

    def _begin(self, context: Context) -> None:
        self.remaining.append(context.time_remaining())
        self.entered.set()
        self.on_begin()
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure

    async def one(self, request: bytes, context: Context) -> bytes:
        self._begin(context)
        if request == b"who":
            return caller().encode()
        if request == b"hang":
            await self._hang()
        return request

    async def many(self, request: bytes, context: Context) -> AsyncIterator[bytes]:
        self._begin(context)
        for number in range(int(request)):
            yield str(number).encode()
        if request == b"1":
            await self._hang()

    async def collect(self, requests: AsyncIterator[bytes], context: Context) -> bytes:
        self._begin(context)
        return b",".join([request async for request in requests])

    async def chat(self, requests: AsyncIterator[bytes], context: Context) -> AsyncIterator[bytes]:
        self._begin(context)
        async for request in requests:
            if request == b"bad":
                raise InvalidRequest("is bad", field="messages[1]")
            yield request

    async def _hang(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()

    def add_to_server(self, server: grpc.aio.Server) -> None:
        handlers: dict[str, Handler] = {
            "One": grpc.unary_unary_rpc_method_handler(self.one, _readable),
            "Many": grpc.unary_stream_rpc_method_handler(self.many),
            "Collect": grpc.stream_unary_rpc_method_handler(self.collect),
            "Chat": grpc.stream_stream_rpc_method_handler(self.chat),
        }
        generic = grpc.method_handlers_generic_handler(SERVICE, handlers)
        server.add_generic_rpc_handlers((generic,))
        server.add_registered_method_handlers(SERVICE, handlers)


class EchoStub:
    """What a generated stub is: one caller per method."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.One: Any = channel.unary_unary(f"/{SERVICE}/One")
        self.Many: Any = channel.unary_stream(f"/{SERVICE}/Many")
        self.Collect: Any = channel.stream_unary(f"/{SERVICE}/Collect")
        self.Chat: Any = channel.stream_stream(f"/{SERVICE}/Chat")


def _readable(data: bytes) -> bytes:
    if data == b"garbage":
        raise ValueError("wire format was corrupt")
    return data
