"""The in-memory stand-in for a gRPC server."""

import asyncio
from collections.abc import Iterable, Mapping

import grpc

from libs.runtime.errors import Status
from libs.runtime.guard import Guard, Handler
from libs.runtime.memory.context import MemoryContext
from libs.runtime.memory.exchange import Exchange


class MemoryServer(grpc.aio.Server):
    """Takes what generated `add_…_to_server` functions register and serves it behind a guard."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._handlers: dict[str, Handler] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[int, Exchange] = {}
        self._accepting = False
        self._stopped = asyncio.Event()

    def add_generic_rpc_handlers(
        self, generic_rpc_handlers: Iterable[grpc.GenericRpcHandler]
    ) -> None:
        """Do nothing: generated code registers every method by name as well."""

    def add_registered_method_handlers(
        self, service_name: str, method_handlers: Mapping[str, Handler]
    ) -> None:
        """Take the methods of one service."""
        for name, handler in method_handlers.items():
            path = f"/{service_name}/{name}"
            self._handlers[path] = self._guard.wrap(path, handler)

    def add_insecure_port(self, address: str) -> int:
        """Do nothing: `MemoryNetwork.listen` gives a server its address."""
        return 0

    def add_secure_port(self, address: str, server_credentials: grpc.ServerCredentials) -> int:
        """Do nothing: `MemoryNetwork.listen` gives a server its address."""
        return 0

    async def start(self) -> None:
        """Accept calls."""
        self._accepting = True

    async def stop(self, grace: float | None) -> None:
        """Accept no more calls, wait up to `grace` seconds for the open ones, then end them."""
        self._accepting = False
        if self._tasks and grace:
            await asyncio.wait(tuple(self._tasks), timeout=grace)
        for exchange in tuple(self._open.values()):
            exchange.finish(Status(grpc.StatusCode.UNAVAILABLE, "the server has stopped"))
        if self._tasks:
            await asyncio.wait(tuple(self._tasks))
        self._stopped.set()

    def vanish(self) -> None:
        """Break off every call and accept no more, as a process that dies does."""
        self._accepting = False
        for exchange in tuple(self._open.values()):
            exchange.finish(Status(grpc.StatusCode.UNAVAILABLE, "the server is gone"))

    async def wait_for_termination(
        self,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is gRPC's
    ) -> bool:
        """Wait until the server has stopped."""
        async with asyncio.timeout(timeout):
            await self._stopped.wait()
        return True

    def accept(self, exchange: Exchange) -> None:
        """Begin to serve a call, or end it at once with the reason why not."""
        handler = self._handlers.get(exchange.method)
        if not self._accepting:
            exchange.finish(Status(grpc.StatusCode.UNAVAILABLE, "the server is not accepting"))
        elif handler is None:
            exchange.finish(Status(grpc.StatusCode.UNIMPLEMENTED, "method not found"))
        else:
            self._begin(exchange, handler)

    def _begin(self, exchange: Exchange, handler: Handler) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(_serve(exchange, handler), name=f"serve {exchange.method}")
        self._tasks.add(task)
        self._open[id(exchange)] = exchange
        exchange.on_end.append(lambda: _cancel_from_outside(task))
        task.add_done_callback(lambda done: self._ended(done, exchange))
        if exchange.deadline is not None:
            expired = Status(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline exceeded")
            timer = loop.call_at(exchange.deadline, exchange.finish, expired)
            exchange.on_end.append(timer.cancel)

    def _ended(self, task: "asyncio.Task[None]", exchange: Exchange) -> None:
        self._tasks.discard(task)
        self._open.pop(id(exchange), None)
        exchange.finish(Status(grpc.StatusCode.CANCELLED, "the handler was cancelled"))


async def _serve(exchange: Exchange, handler: Handler) -> None:
    context = MemoryContext(exchange, handler)
    try:
        await _run(exchange, handler, context)
    except grpc.aio.AbortError:
        exchange.finish(context.status())
    except Exception as error:  # the guard lets nothing through but a response that does not encode
        exchange.finish(Status(grpc.StatusCode.INTERNAL, f"no answer: {error}"))
    else:
        exchange.finish(context.status())


async def _run(exchange: Exchange, handler: Handler, context: MemoryContext) -> None:
    arrival = "stream" if handler.request_streaming else "unary"
    answer = "stream" if handler.response_streaming else "unary"
    behaviour = getattr(handler, f"{arrival}_{answer}")
    request = context.requests() if handler.request_streaming else await context.read()
    response = await behaviour(request, context)
    if not handler.response_streaming:
        await context.write(response)


def _cancel_from_outside(task: "asyncio.Task[None]") -> None:
    if task is not asyncio.current_task(task.get_loop()):
        task.cancel()
