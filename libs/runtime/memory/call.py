"""The client's end of an in-memory call."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import grpc

from libs.runtime.errors import Status
from libs.runtime.memory.exchange import CANCELLED, Exchange


class MemoryCall:
    """The client's end: awaitable, iterable and writable as the four kinds of aio calls are."""

    def __init__(
        self, exchange: Exchange, encode: Callable[[Any], bytes], decode: Callable[[bytes], Any]
    ) -> None:
        self._exchange = exchange
        self._encode = encode
        self._decode = decode
        self._cancelled = False

    def __del__(self) -> None:
        if not self._exchange.loop.is_closed():
            self._exchange.finish(CANCELLED)  # nobody can read it any more

    def __await__(self) -> Generator[Any, None, Any]:
        return self._answer().__await__()

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.read()) is not grpc.aio.EOF:
            yield message

    async def read(self) -> Any:
        """Return the next response, `EOF` after the last; raise how the call failed."""
        message = await self._next()
        if message is not None and not self._cancelled:
            return self._decode(message)
        self._raise_for_status()
        return grpc.aio.EOF

    async def write(self, request: Any) -> None:
        """Send one request of a stream."""
        if not await self._exchange.requests.put(self._encode(request)):
            raise asyncio.InvalidStateError("the call has ended")

    async def done_writing(self) -> None:
        """Say that no more requests follow."""
        self._exchange.requests.end()

    def cancel(self) -> bool:
        """End the call; return whether it was still open."""
        ended = self._exchange.finish(CANCELLED)
        self._cancelled = self._cancelled or ended
        return ended

    def cancelled(self) -> bool:
        """Return whether this end cancelled the call."""
        return self._cancelled

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._exchange.status is not None

    def time_remaining(self) -> float | None:
        """Return the seconds left, `None` without a deadline."""
        return self._exchange.time_remaining()

    def add_done_callback(self, callback: Callable[["MemoryCall"], None]) -> None:
        """Call back when the call ends."""
        self._exchange.on_end.append(lambda: callback(self))

    async def code(self) -> grpc.StatusCode:
        """Wait for the end and return its status."""
        return (await self._status()).code

    async def details(self) -> str:
        """Wait for the end and return its message."""
        return (await self._status()).message

    async def initial_metadata(self) -> grpc.aio.Metadata:
        """Return the initial metadata."""
        return grpc.aio.Metadata.from_tuple(tuple(self._exchange.initial_metadata))

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        """Wait for the end and return its metadata."""
        return grpc.aio.Metadata.from_tuple((await self._status()).trailers)

    async def wait_for_connection(self) -> None:
        """Return at once, or raise how the call failed."""
        self._raise_for_status()

    async def _answer(self) -> Any:
        message = await self._next()
        status = await self._status()
        if message is None or status.code is not grpc.StatusCode.OK:
            self._raise_for_status()
            raise asyncio.InvalidStateError("the call ended without an answer")
        return self._decode(message)

    async def _next(self) -> bytes | None:
        try:
            return await self._exchange.responses.get()
        except asyncio.CancelledError:
            self.cancel()
            raise

    async def _status(self) -> Status:
        await self._exchange.ended.wait()
        assert self._exchange.status is not None
        return self._exchange.status

    def _raise_for_status(self) -> None:
        status = self._exchange.status
        if self._cancelled:
            raise asyncio.CancelledError
        if status is not None and status.code is not grpc.StatusCode.OK:
            raise grpc.aio.AioRpcError(
                status.code,
                grpc.aio.Metadata.from_tuple(tuple(self._exchange.initial_metadata)),
                grpc.aio.Metadata.from_tuple(status.trailers),
                status.message,
            )
