"""What stands between a listener and every method: identity, authorization, deadline, error table.

One wrapper around a method's handler, used by the real server's interceptor and by the in-memory
transport alike, so that tests without sockets meet the same rules. A failure that is not one of our
errors is logged here, once, with its traceback, and its text is not sent.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import grpc

from libs.domain.errors import Forbidden, InvalidRequest, Unavailable
from libs.runtime import errors
from libs.runtime.authorization import (
    LOOPBACK_ONLY,
    Authenticate,
    AuthorizationTable,
    by_certificate,
    set_caller,
)
from libs.runtime.metrics import ServerMetrics
from libs.runtime.timeouts import CallDeadlines

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    Handler = grpc.RpcMethodHandler[Any, Any]
else:
    Handler = grpc.RpcMethodHandler  # generic in its stubs only
Context = grpc.aio.ServicerContext[Any, Any]


_STOPPING = "the server is stopping"


class Guard:
    """The rules of one listener."""

    def __init__(
        self,
        *,
        authenticate: Authenticate = by_certificate,
        table: AuthorizationTable = LOOPBACK_ONLY,
        deadlines: CallDeadlines,
        metrics: ServerMetrics,
    ) -> None:
        self._authenticate = authenticate
        self._table = table
        self._deadlines = deadlines
        self._metrics = metrics
        self._streams: set[asyncio.Timeout] = set()
        self._draining = False

    def wrap(self, path: str, handler: Handler) -> Handler:
        """Return `handler` behind the rules; `path` is `/package.Service/Method`."""
        method = _method(path, handler)

        async def behaviour(request: Any, context: Context) -> Any:
            return await self._serve(method, request, context)

        return _WRAPPERS[method.kind](
            behaviour,
            request_deserializer=_lenient(handler.request_deserializer),
            response_serializer=handler.response_serializer,
        )

    def drain(self) -> None:
        """End all streams and refuse new ones: they would outlast any grace period."""
        self._draining = True
        now = asyncio.get_running_loop().time()
        for scope in self._streams:
            scope.reschedule(now)

    async def _serve(self, method: "_Method", request: Any, context: Context) -> Any:
        with self._metrics.measured(method.path, timed=not method.streaming) as outcome:
            try:
                return await self._within_deadline(method, request, context)
            except grpc.aio.AbortError:  # a stock servicer ended the call itself
                outcome.code = _ended_with(context)
                raise
            except asyncio.CancelledError:
                outcome.code = grpc.StatusCode.CANCELLED
                raise
            except Exception as error:  # the one place that may: every failure becomes a status
                status = self._status_of(error, method)
                outcome.code = status.code
        return await context.abort(status.code, status.message, status.trailers)

    async def _within_deadline(self, method: "_Method", request: Any, context: Context) -> Any:
        self._authorize(method, context)
        if self._draining and method.streaming:
            raise Unavailable(_STOPPING)
        scope = asyncio.timeout(self._span(method, context))
        try:
            async with scope:
                with self._registered(scope, method):
                    return await _invoke(method, request, context)
        except TimeoutError as error:
            if scope.expired():
                raise _ExpiredError(draining=self._draining and method.streaming) from error
            raise

    def _span(self, method: "_Method", context: Context) -> float:
        given: float | None = context.time_remaining()  # None without a deadline
        if given is None:
            return self._deadlines.for_call(streaming=method.streaming).total_seconds()
        return given

    def _authorize(self, method: "_Method", context: Context) -> None:
        identity = self._authenticate(context)
        if not self._table.permits(identity, method.path):
            raise Forbidden(f"{identity!r} may not call {method.path}")
        set_caller(identity)

    @contextlib.contextmanager
    def _registered(self, scope: asyncio.Timeout, method: "_Method") -> Iterator[None]:
        if not method.streaming:
            yield
            return
        self._streams.add(scope)
        try:
            yield
        finally:
            self._streams.discard(scope)

    def _status_of(self, error: Exception, method: "_Method") -> errors.Status:
        if isinstance(error, _ExpiredError):
            return error.status
        status = errors.to_status(error)
        if status.code is grpc.StatusCode.INTERNAL:
            logger.error("call failed", extra={"method": method.path}, exc_info=error)
        return status


class GuardInterceptor(grpc.aio.ServerInterceptor):
    """Puts a guard before every method of a real server."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler | None:
        """Return the guarded handler, `None` for a method that does not exist."""
        handler = await continuation(handler_call_details)
        return handler and self._guard.wrap(handler_call_details.method, handler)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Method:
    """A method as its servicer registered it; `kind` is gRPC's name, such as `unary_stream`."""

    path: str
    kind: str
    behaviour: Callable[..., Any]

    @property
    def streaming(self) -> bool:
        return self.kind != "unary_unary"


class _ExpiredError(Exception):
    """The call's time is over: its deadline came, or the server is stopping."""

    def __init__(self, *, draining: bool) -> None:
        super().__init__()
        self.status = (
            errors.Status(grpc.StatusCode.UNAVAILABLE, _STOPPING)
            if draining
            else errors.Status(grpc.StatusCode.DEADLINE_EXCEEDED, "the call's deadline passed")
        )


class _Malformed:
    """Stands for a request whose bytes are no message of the method's type."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason


def _lenient(deserializer: Callable[[bytes], Any] | None) -> Callable[[bytes], Any] | None:
    """Let bytes that cannot be read reach the guard, so that they end as `InvalidRequest`."""
    if deserializer is None:
        return None

    def deserialize(data: bytes) -> Any:
        try:
            return deserializer(data)
        except Exception as error:  # upb raises its own kinds; all mean the same
            return _Malformed(error)

    return deserialize


async def _invoke(method: "_Method", request: Any, context: Context) -> Any:
    checked = _checked_stream(request) if method.kind.startswith("stream") else _checked(request)
    steady = cast(Context, _SteadyContext(context))
    result = method.behaviour(checked, steady)
    if method.kind.endswith("unary") or not hasattr(result, "__aiter__"):
        return await result
    async with contextlib.aclosing(result) as responses:
        async for response in responses:
            await steady.write(response)
    return None


def _checked(request: Any) -> Any:
    if isinstance(request, _Malformed):
        raise InvalidRequest(f"the request is no readable message: {request.reason}")
    return request


async def _checked_stream(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for request in requests:
        yield _checked(request)


class _SteadyContext:
    """A context whose writes are not interrupted.

    gRPC cannot end a call in the middle of its first message: the status would send the initial
    metadata a second time, the attempt fails, and the client never hears of the end.
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def write(self, message: Any) -> None:
        """Send one message; when cancelled, first finish sending it."""
        writing = asyncio.ensure_future(self._context.write(message))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.gather(writing, return_exceptions=True)
            raise


def _method(path: str, handler: Handler) -> "_Method":
    arrival = "stream" if handler.request_streaming else "unary"
    answer = "stream" if handler.response_streaming else "unary"
    kind = f"{arrival}_{answer}"
    return _Method(path=path, kind=kind, behaviour=getattr(handler, kind))


def _ended_with(context: Context) -> grpc.StatusCode:
    code = context.code()
    return code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


_WRAPPERS: dict[str, Callable[..., Handler]] = {
    "unary_unary": grpc.unary_unary_rpc_method_handler,
    "unary_stream": grpc.unary_stream_rpc_method_handler,
    "stream_unary": grpc.stream_unary_rpc_method_handler,
    "stream_stream": grpc.stream_stream_rpc_method_handler,
}
