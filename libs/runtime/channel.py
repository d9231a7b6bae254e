"""Client channels: domain errors instead of statuses, a deadline on every call, fresh certificates.

`DomainChannel` wraps any aio channel, real or in memory, so generated stubs work on it unchanged.
It is a wrapper and not a gRPC interceptor because aio's interceptors see neither the errors of
streams nor a change of the channel below them.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from types import TracebackType
from typing import Any, Self

import grpc

from libs.domain.errors import Unavailable
from libs.runtime import errors
from libs.runtime.timeouts import CallDeadlines

_Serialize = Callable[[Any], bytes] | None
_Deserialize = Callable[[bytes], Any] | None


class DomainChannel(grpc.aio.Channel):
    """A channel whose calls raise domain errors; `source` gives the channel below, call by call."""

    def __init__(self, source: Callable[[], grpc.aio.Channel], deadlines: CallDeadlines) -> None:
        self._source = source
        self._deadlines = deadlines

    def unary_unary(
        self,
        method: str,
        request_serializer: _Serialize = None,
        response_deserializer: _Deserialize = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a unary method."""
        return self._caller("unary_unary", method, request_serializer, response_deserializer)

    def unary_stream(
        self,
        method: str,
        request_serializer: _Serialize = None,
        response_deserializer: _Deserialize = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a method that answers with a stream."""
        return self._caller("unary_stream", method, request_serializer, response_deserializer)

    def stream_unary(
        self,
        method: str,
        request_serializer: _Serialize = None,
        response_deserializer: _Deserialize = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a method that takes a stream."""
        return self._caller("stream_unary", method, request_serializer, response_deserializer)

    def stream_stream(
        self,
        method: str,
        request_serializer: _Serialize = None,
        response_deserializer: _Deserialize = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a bidirectional method."""
        return self._caller("stream_stream", method, request_serializer, response_deserializer)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return the state of the channel below."""
        return self._source().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Wait until the state of the channel below is another."""
        await self._source().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Wait until the channel below is connected."""
        await self._source().channel_ready()

    async def close(self, grace: float | None = None) -> None:
        """Close the channel below; its calls are cancelled after `grace` seconds."""
        await self._source().close(grace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()

    def _caller(
        self, kind: str, method: str, serializer: _Serialize, deserializer: _Deserialize
    ) -> "Callable[..., DomainCall]":
        span = self._deadlines.for_call(streaming=kind != "unary_unary").total_seconds()
        made: list[tuple[grpc.aio.Channel, Callable[..., Any]]] = []

        def call(
            request: Any = None, *, timeout: float | None = None, **options: Any
        ) -> DomainCall:
            channel = self._source()
            if not made or made[0][0] is not channel:
                made[:] = [(channel, getattr(channel, kind)(method, serializer, deserializer))]
            start = made[0][1]
            return DomainCall(
                start(request, timeout=span if timeout is None else timeout, **options), method
            )

        return call


class DomainCall:
    """A call of any kind, as aio's own but for the errors that it raises."""

    def __init__(self, call: Any, method: str) -> None:
        self._call = call
        self._method = method

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def __await__(self) -> Generator[Any, None, Any]:
        return self._answer().__await__()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._messages()

    async def read(self) -> Any:
        """Return the next message, `grpc.aio.EOF` after the last."""
        with self._translated():
            return await self._call.read()

    async def write(self, request: Any) -> None:
        """Send one message of a stream.

        Raises:
            JoinerError: the call has ended; the error it ended with.
        """
        with self._translated():
            try:
                await self._call.write(request)
            except asyncio.InvalidStateError as error:
                raise await self._ended() from error

    async def done_writing(self) -> None:
        """Say that no more messages follow."""
        with self._translated():
            await self._call.done_writing()

    async def _answer(self) -> Any:
        with self._translated():
            return await self._call

    async def _messages(self) -> AsyncIterator[Any]:
        messages = aiter(self._call)
        while True:
            with self._translated():
                try:
                    message = await anext(messages)
                except StopAsyncIteration:
                    return
            yield message

    async def _ended(self) -> Exception:
        code = await self._call.code()
        if code is grpc.StatusCode.OK:
            return Unavailable(f"{self._method} has ended, nothing more can be sent")
        trailers = await self._call.trailing_metadata()
        return errors.from_status(code, await self._call.details() or "", trailers or ())

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        task = asyncio.current_task()
        cancelled_before = task.cancelling() if task else 0
        try:
            yield
        except grpc.aio.AioRpcError as error:
            _keep_cancellation(task, cancelled_before)
            message = error.details() or ""
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                message = f"{self._method} did not answer within its deadline"
            trailers = error.trailing_metadata() or ()
            raise errors.from_status(error.code(), message, trailers) from error
        _keep_cancellation(task, cancelled_before)


def _keep_cancellation(task: "asyncio.Task[Any] | None", before: int) -> None:
    """Raise the cancellation of `task` that came since; aio lets it end in a stream's preparation.

    A read awaits the task in which aio opens the stream. Cancelling the reader cancels that task,
    which takes it as its own end: the reader would go on as if nobody had asked it to stop.
    """
    if task is not None and task.cancelling() > before:
        raise asyncio.CancelledError
