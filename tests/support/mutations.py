"""Every mutation that services ask for, in order, and the instants at which a test can step in.

A mutation is a write to Kubernetes or a call of another service that makes it act. The renewal of a
lease, which the clock brings about, and events, on which nothing depends, are passed over.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import grpc

from libs.runtime.network import Network

ACTING = frozenset(
    {
        "/joiner.lifecycle.v1.LifecycleService/ApplyPlan",
        "/joiner.lifecycle.v1.LifecycleService/ExecuteCommand",
        "/joiner.lifecycle.v1.LifecycleService/Evict",
        "/joiner.provider.v1.CloudProviderService/Create",
        "/joiner.provider.v1.CloudProviderService/Delete",
    }
)
"""Methods whose call is a mutation of the caller's."""

_PASSED_OVER = re.compile("PUT .*/leases/|[A-Z]+ .*/events")


@dataclass(frozen=True, slots=True)
class Mutation:
    """Who changed what: `POST /api/v1/nodes`, or the full name of a method and its message."""

    process: str
    what: str
    message: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Instant:
    """Just before or just after the mutation of that position, counted from 0."""

    position: int
    after: bool = False


@dataclass(slots=True)
class Mutations:
    """The mutations of one run."""

    made: list[Mutation] = field(default_factory=list)
    sent: dict[str, Any] = field(default_factory=dict)
    """The last message of every method with a single one, by the method's full name."""
    steps_in: Callable[[Instant, str], None] = lambda _instant, _process: None
    """Called at every instant, with the process whose mutation it is; what it raises is raised in
    the place of the mutation or of its answer."""

    def messages(self, method: str) -> list[Any]:
        """Return what was sent to a method, whose name is enough, in order."""
        return [one.message for one in self.made if one.what.endswith(f"/{method}")]

    @contextmanager
    def noted(self, process: str, what: str, message: Any = None) -> Iterator[None]:
        """Note the mutation that is the body."""
        if _PASSED_OVER.match(what):
            yield
            return
        position = len(self.made)
        self.made.append(Mutation(process, what, message))
        self.steps_in(Instant(position), process)
        yield
        self.steps_in(Instant(position, after=True), process)


class NotedNetwork:
    """A process's network, whose calls that make others act are noted."""

    def __init__(self, network: Network, mutations: Mutations, process: str) -> None:
        self._network = network
        self._mutations = mutations
        self._process = process

    def channel(self, target: str) -> grpc.aio.Channel:
        """Return the channel to `host:port`."""
        return _NotedChannel(self._network.channel(target), self._mutations, self._process)

    async def resolve(self, target: str) -> tuple[str, ...]:
        """Pass on."""
        return await self._network.resolve(target)

    async def close(self) -> None:
        """Pass on."""
        await self._network.close()


class _NotedChannel(grpc.aio.Channel):
    def __init__(self, channel: grpc.aio.Channel, mutations: Mutations, process: str) -> None:
        self._channel = channel
        self._mutations = mutations
        self._process = process

    def unary_unary(self, method: str, *rest: Any, **options: Any) -> Any:
        inner = self._channel.unary_unary(method, *rest, **options)

        async def call(request: Any, **how: Any) -> Any:
            self._mutations.sent[method] = request
            if method not in ACTING:
                return await inner(request, **how)
            with self._mutations.noted(self._process, method, request):
                return await inner(request, **how)

        return call

    def unary_stream(self, *rest: Any, **options: Any) -> Any:
        return self._channel.unary_stream(*rest, **options)

    def stream_unary(self, *rest: Any, **options: Any) -> Any:
        return self._channel.stream_unary(*rest, **options)

    def stream_stream(self, *rest: Any, **options: Any) -> Any:
        return self._channel.stream_stream(*rest, **options)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        return self._channel.get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        await self._channel.wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        await self._channel.channel_ready()

    async def close(self, grace: float | None = None) -> None:
        await self._channel.close(grace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()
