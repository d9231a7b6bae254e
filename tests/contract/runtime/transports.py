"""The two transports, brought up alike, so that one test runs on both."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from libs.runtime import server
from libs.runtime.authorization import LOCAL, AuthorizationTable
from libs.runtime.channel import DomainChannel
from libs.runtime.guard import Guard
from libs.runtime.health import Health
from libs.runtime.memory.network import MemoryNetwork
from libs.runtime.memory.server import MemoryServer
from libs.runtime.metrics import ServerMetrics
from libs.runtime.timeouts import CallDeadlines
from tests.contract.runtime.echo import Echo, EchoStub

OPEN = AuthorizationTable(rows={LOCAL: frozenset({"*"})})


@dataclass(kw_only=True)
class World:
    """A served echo and a stub to it."""

    echo: Echo
    stub: EchoStub
    guard: Guard
    server: grpc.aio.Server
    channel: grpc.aio.Channel
    registry: CollectorRegistry
    health: Health


@dataclass(kw_only=True)
class Options:
    table: AuthorizationTable = OPEN
    incoming: CallDeadlines = field(default_factory=CallDeadlines)
    outgoing: CallDeadlines = field(default_factory=CallDeadlines)


Transport = Callable[[Options], contextlib.AbstractAsyncContextManager[World]]


@contextlib.asynccontextmanager
async def over_sockets(options: Options) -> AsyncIterator[World]:
    registry, guard = _guard(options)
    grpc_server = server.new_server(guard)
    echo, health = Echo(), Health()
    server.register(grpc_server, (echo.add_to_server,), health)
    port = server.bind(grpc_server, "127.0.0.1:0", None)
    await grpc_server.start()
    inner = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    channel = DomainChannel(lambda: inner, options.outgoing)
    try:
        yield World(
            echo=echo,
            stub=EchoStub(channel),
            guard=guard,
            server=grpc_server,
            channel=channel,
            registry=registry,
            health=health,
        )
    finally:
        await channel.close()
        await grpc_server.stop(None)


@contextlib.asynccontextmanager
async def in_memory(options: Options) -> AsyncIterator[World]:
    registry, guard = _guard(options)
    memory_server = MemoryServer(guard)
    echo, health = Echo(), Health()
    server.register(memory_server, (echo.add_to_server,), health)
    network = MemoryNetwork(options.outgoing)
    network.listen("echo:1", memory_server)
    await memory_server.start()
    channel = network.seen_by(LOCAL).channel("echo:1")
    try:
        yield World(
            echo=echo,
            stub=EchoStub(channel),
            guard=guard,
            server=memory_server,
            channel=channel,
            registry=registry,
            health=health,
        )
    finally:
        await memory_server.stop(None)


on_both = pytest.mark.parametrize(
    "transport",
    [pytest.param(over_sockets, id="sockets"), pytest.param(in_memory, id="memory")],
)


async def outcome(call: Awaitable[Any]) -> Any:
    """Return what awaiting the call returns or raises."""
    try:
        return await call
    except Exception as error:
        return error


async def error_of(call: Awaitable[Any]) -> Exception:
    """Return what awaiting the call raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # the caller looks at it
        await call
    return caught.value


def _guard(options: Options) -> tuple[CollectorRegistry, Guard]:
    registry = CollectorRegistry()
    guard = Guard(table=options.table, deadlines=options.incoming, metrics=ServerMetrics(registry))
    return registry, guard
