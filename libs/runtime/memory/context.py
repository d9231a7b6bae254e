"""The server's end of an in-memory call."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import grpc

from libs.runtime.errors import Status
from libs.runtime.guard import Handler
from libs.runtime.memory.exchange import Exchange, Metadata


class MemoryContext:
    """The server's end: what a servicer and the guard ask of a `ServicerContext`."""

    def __init__(self, exchange: Exchange, handler: Handler) -> None:
        self._exchange = exchange
        self._encode = handler.response_serializer or bytes
        self._decode = handler.request_deserializer or bytes
        self._code = grpc.StatusCode.OK
        self._details = ""
        self._trailers: Metadata = ()

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()
    ) -> None:
        """End the call with a status and leave the handler."""
        self._code, self._details = code, details
        self._trailers = trailing_metadata or self._trailers
        raise grpc.aio.AbortError

    async def read(self) -> Any:
        """Return the next request, `EOF` after the last."""
        message = await self._exchange.requests.get()
        return grpc.aio.EOF if message is None else self._decode(message)

    async def write(self, message: Any) -> None:
        """Send one response of a stream."""
        if not await self._exchange.responses.put(self._encode(message)):
            raise asyncio.CancelledError  # the client has gone: aio cancels the handler as well

    async def requests(self) -> AsyncIterator[Any]:
        """Yield the requests of a stream."""
        while (message := await self.read()) is not grpc.aio.EOF:
            yield message

    async def send_initial_metadata(self, initial_metadata: Metadata) -> None:
        """Give the client its initial metadata."""
        self._exchange.initial_metadata = initial_metadata

    def set_trailing_metadata(self, trailing_metadata: Metadata) -> None:
        """Set what the client gets at the end."""
        self._trailers = trailing_metadata

    def set_code(self, code: grpc.StatusCode) -> None:
        """Set the status that the call will end with."""
        self._code = code

    def set_details(self, details: str) -> None:
        """Set the message that the call will end with."""
        self._details = details

    def code(self) -> grpc.StatusCode:
        """Return the status set so far."""
        return self._code

    def details(self) -> str:
        """Return the message set so far."""
        return self._details

    def trailing_metadata(self) -> Metadata:
        """Return the trailing metadata set so far."""
        return self._trailers

    def status(self) -> Status:
        """Return the status that was set."""
        return Status(self._code, self._details, tuple(self._trailers))

    def invocation_metadata(self) -> Metadata:
        """Return what the client sent."""
        return self._exchange.metadata

    def auth_context(self) -> Mapping[str, tuple[bytes, ...]]:
        """Return the identity in the form in which TLS gives it."""
        return {"x509_subject_alternative_name": (self._exchange.identity.encode(),)}

    def peer(self) -> str:
        """Return where the call comes from."""
        return f"memory:{self._exchange.identity}"

    def time_remaining(self) -> float | None:
        """Return the seconds left, `None` without a deadline."""
        return self._exchange.time_remaining()

    def cancelled(self) -> bool:
        """Return whether the call ended before the handler did."""
        return self._exchange.status is not None

    def done(self) -> bool:
        """Return whether the call has ended."""
        return self._exchange.status is not None

    def add_done_callback(self, callback: Callable[["MemoryContext"], None]) -> None:
        """Call back when the call ends."""
        self._exchange.on_end.append(lambda: callback(self))
