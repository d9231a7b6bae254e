"""The addresses of a simulated world, and the channels to them."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from types import TracebackType
from typing import Any, Self

import grpc

from libs.domain.errors import Unavailable
from libs.runtime.authorization import LOCAL
from libs.runtime.channel import DomainChannel
from libs.runtime.errors import Status
from libs.runtime.memory.call import MemoryCall
from libs.runtime.memory.exchange import Exchange
from libs.runtime.memory.server import MemoryServer
from libs.runtime.timeouts import CallDeadlines

ServerAt = Callable[[str], MemoryServer | None]
"""Finds who listens at a target when a call is made."""

_Encode = Callable[[Any], bytes] | None
_Decode = Callable[[bytes], Any] | None


class MemoryNetwork:
    """The addresses of one simulated world."""

    def __init__(self, deadlines: CallDeadlines | None = None) -> None:
        self._deadlines = deadlines or CallDeadlines()
        self._servers: dict[str, MemoryServer] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def listen(self, address: str, server: MemoryServer) -> None:
        """Put a server at `host:port`, in place of the one that was there."""
        self._servers[address] = server

    def name(self, target: str, addresses: tuple[str, ...]) -> None:
        """Let a headless `host:port` resolve to these addresses."""
        self._names[target] = addresses

    def seen_by(self, identity: str) -> "MemoryPeer":
        """Return the network as a process with this identity uses it."""
        return MemoryPeer(self, identity, self._deadlines)

    def server_at(self, address: str) -> MemoryServer | None:
        """Return who listens at an address, or behind the first address of a name."""
        return self._servers.get(self._names.get(address, (address,))[0])

    def addresses(self, target: str) -> tuple[str, ...]:
        """Return the addresses behind a name; an address stands for itself."""
        return self._names.get(target, (target,) if target in self._servers else ())


class MemoryPeer:
    """The `Network` of one process in a simulated world; its calls carry the process's identity."""

    def __init__(self, network: MemoryNetwork, identity: str, deadlines: CallDeadlines) -> None:
        self._network = network
        self._identity = identity
        self._deadlines = deadlines
        self._cut = False

    def channel(self, target: str) -> grpc.aio.Channel:
        """Return a channel to whoever listens at `target` when a call is made."""
        inner = MemoryChannel(self._server_at, target, self._identity)
        return DomainChannel(lambda: inner, self._deadlines)

    def cut_off(self) -> None:
        """Let every later call of this process fail, as if it were gone."""
        self._cut = True

    def _server_at(self, target: str) -> MemoryServer | None:
        return None if self._cut else self._network.server_at(target)

    async def resolve(self, target: str) -> tuple[str, ...]:
        """Return the addresses that the world gave the name."""
        addresses = self._network.addresses(target)
        if not addresses:
            raise Unavailable(f"{target} has no addresses")
        return addresses

    async def close(self) -> None:
        """Do nothing: no connection is held."""


class MemoryChannel(grpc.aio.Channel):
    """What generated stubs call; raises statuses, as a real aio channel does."""

    def __init__(self, server_at: ServerAt, target: str, identity: str = LOCAL) -> None:
        self._server_at = server_at
        self._target = target
        self._identity = identity

    def unary_unary(
        self,
        method: str,
        request_serializer: _Encode = None,
        response_deserializer: _Decode = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a unary method."""
        return self._caller(method, request_serializer, response_deserializer, streaming=False)

    def unary_stream(
        self,
        method: str,
        request_serializer: _Encode = None,
        response_deserializer: _Decode = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a method that answers with a stream."""
        return self._caller(method, request_serializer, response_deserializer, streaming=False)

    def stream_unary(
        self,
        method: str,
        request_serializer: _Encode = None,
        response_deserializer: _Decode = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a method that takes a stream."""
        return self._caller(method, request_serializer, response_deserializer, streaming=True)

    def stream_stream(
        self,
        method: str,
        request_serializer: _Encode = None,
        response_deserializer: _Decode = None,
        _registered_method: bool | None = False,
    ) -> Any:
        """Return a caller of a bidirectional method."""
        return self._caller(method, request_serializer, response_deserializer, streaming=True)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Return `READY` if a server listens at the target."""
        if self._server_at(self._target) is None:
            return grpc.ChannelConnectivity.TRANSIENT_FAILURE
        return grpc.ChannelConnectivity.READY

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Return at once: connections have no states of their own here."""

    async def channel_ready(self) -> None:
        """Return at once: there is no connection to wait for."""

    async def close(self, grace: float | None = None) -> None:
        """Do nothing: no connection is held."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        """Do nothing: no connection is held."""

    def _caller(
        self,
        method: str,
        encode: _Encode,
        decode: _Decode,
        *,
        streaming: bool,
    ) -> Callable[..., MemoryCall]:
        encoded = encode or bytes

        def call(
            request: Any = None, *, timeout: float | None = None, **options: Any
        ) -> MemoryCall:
            exchange = self._exchange(method, timeout, options.get("metadata") or ())
            message = None if streaming else encoded(request)
            self._begin(exchange)
            if message is not None:
                exchange.requests.put_last(message)
            elif request is not None:
                _send_all(request, exchange, encoded)
            return MemoryCall(exchange, encoded, decode or bytes)

        return call

    def _exchange(
        self, method: str, timeout: float | None, metadata: Iterable[tuple[str, str | bytes]]
    ) -> Exchange:
        now = asyncio.get_running_loop().time()
        return Exchange(
            method=method,
            identity=self._identity,
            metadata=tuple(metadata),
            deadline=None if timeout is None else now + timeout,
        )

    def _begin(self, exchange: Exchange) -> None:
        server = self._server_at(self._target)
        if server is None:
            nobody = f"nobody listens at {self._target}"
            exchange.finish(Status(grpc.StatusCode.UNAVAILABLE, nobody))
        else:
            server.accept(exchange)


def _send_all(
    requests: AsyncIterable[Any] | Iterable[Any],
    exchange: Exchange,
    encode: Callable[[Any], bytes],
) -> None:
    """Send a stream's requests in a task that ends with the call."""

    async def send() -> None:
        async for request in _stream(requests):
            if not await exchange.requests.put(encode(request)):
                return
        exchange.requests.end()

    sender = exchange.loop.create_task(send(), name=f"send {exchange.method}")
    sender.add_done_callback(lambda task: _end_if_failed(task, exchange))
    exchange.on_end.append(sender.cancel)


def _end_if_failed(task: "asyncio.Task[None]", exchange: Exchange) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        exchange.finish(Status(grpc.StatusCode.UNKNOWN, f"the requests failed: {error}"))


async def _stream(requests: AsyncIterable[Any] | Iterable[Any]) -> AsyncIterator[Any]:
    if isinstance(requests, AsyncIterable):
        async for request in requests:
            yield request
    else:
        for request in requests:
            yield request
