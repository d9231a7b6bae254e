"""The addresses of a world whose services speak real gRPC on loopback, and a loop that hurries.

Stands in for `MemoryNetwork`, to prove that what is tested in memory holds over sockets. There all
callers are the identity `local`.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

import grpc

from libs.runtime import server
from libs.runtime.guard import Guard
from libs.runtime.network import GrpcNetwork
from libs.runtime.timeouts import CallDeadlines

T = TypeVar("T")


class SocketNetwork:
    """Which port of this machine stands for which address of the world."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._peers: list[SocketPeer] = []

    def listen(self, address: str, guard: Guard) -> grpc.aio.Server:
        """Return a server on a free port that stands for `host:port`."""
        listening = server.new_server(guard)
        port = server.bind(listening, "127.0.0.1:0", None)
        self._real[address] = f"127.0.0.1:{port}"
        return listening

    def name(self, target: str, addresses: tuple[str, ...]) -> None:
        """Let a headless `host:port` resolve to these addresses."""
        self._names[target] = addresses

    def seen_by(self, identity: str) -> "SocketPeer":
        """Return the network as a process uses it; who it is cannot be seen without TLS."""
        peer = SocketPeer(self)
        self._peers.append(peer)
        return peer

    async def close(self) -> None:
        """Close the channels of all."""
        for peer in self._peers:
            await peer.close()

    def real(self, target: str) -> tuple[str, ...]:
        """Return where on this machine those behind a target listen."""
        known = self._names.get(target, (target,))
        return tuple(self._real.get(address, address) for address in known)


class SocketPeer:
    """The `Network` of one process."""

    def __init__(self, world: SocketNetwork) -> None:
        self._world = world
        self._network = GrpcNetwork(None, CallDeadlines())

    def channel(self, target: str) -> grpc.aio.Channel:
        """Return a channel to the first of those behind a target."""
        return self._network.channel(self._world.real(target)[0])

    async def resolve(self, target: str) -> tuple[str, ...]:
        """Return where those behind a target listen."""
        return self._world.real(target)

    def cut_off(self) -> None:
        """Do nothing: a world with sockets kills nobody."""

    async def close(self) -> None:
        """Close all channels."""
        await self._network.close()


class HurriedLoop(asyncio.SelectorEventLoop):
    """A loop on which a second passes in a tenth of one, for tests that wait for real sockets."""

    PACE = 10.0

    def __init__(self) -> None:
        super().__init__(_HurriedSelector())

    def time(self) -> float:
        """Return hurried seconds."""
        return super().time() * self.PACE


class _HurriedSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / HurriedLoop.PACE)


def run_hurried(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` to its end on a loop that hurries and return its result."""
    with asyncio.Runner(loop_factory=HurriedLoop) as runner:
        return runner.run(main)
