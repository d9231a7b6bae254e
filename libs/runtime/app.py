"""What a service is made of (`App`) and what its process gives it (`Runtime`)."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

from prometheus_client import CollectorRegistry

from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.child import Spawn
from libs.runtime.clock import Clock
from libs.runtime.health import Health
from libs.runtime.network import Network
from libs.runtime.randomness import Random
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.server import Registration

P = ParamSpec("P")
T = TypeVar("T")

RootTask = Callable[[], Coroutine[Any, Any, None]]
"""Runs until it is cancelled; returning or raising ends the process."""


async def _at_once() -> None:
    """Do nothing, at once."""


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """What `run` serves and runs; made by the service's `build`."""

    servicers: tuple[Registration, ...] = ()
    """Each puts one servicer on a server: `partial(add_XServicer_to_server, servicer)`."""
    tasks: Mapping[str, RootTask] = field(default_factory=lambda: MappingProxyType({}))
    """Root tasks by name, started in this order."""
    ready: Callable[[], Awaitable[None]] = _at_once
    """Ends when the process may be called ready for the first time (inputs synced). What changes
    later, and names such as `snapshot/<cluster_id>`, is set on `Runtime.health`."""
    close: Callable[[], Awaitable[None]] = _at_once
    """Called once the last task has ended, to let go of connections that tasks share."""
    patience: timedelta | None = None
    """For how long calls go on once the process is to stop; None: a share of the grace period. What
    is only computed can be asked of somebody else, and is not worth waiting for."""
    public_methods: frozenset[str] = frozenset()
    """Full names (`/package.Service/Method`) of the read-only methods of the public listener."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What a process gives to its service; tests give the same with simulated parts."""

    service: str
    boot_id: str
    """Differs with every start of a process; part of an epoch."""
    settings: RuntimeSettings
    clock: Clock
    random: Random
    metrics: CollectorRegistry
    health: Health
    network: Network
    executor: Executor
    """For CPU work that releases the GIL; never for waiting."""
    spare: Callable[[], None] = _nothing
    """To be called after something large was made that lives long: `libs.runtime.garbage`."""
    tidy: Callable[[], None] = _nothing
    """To be called where much was made and nobody waits for an answer."""
    spawn: Spawn | None = None
    """Starts another process for the same work; None: this one has to do it all."""

    def new_id(self) -> str:
        """Return a new random UUID."""
        return new_id(self.random)

    def backoff(self, policy: BackoffPolicy | None = None) -> Backoff:
        """Return a fresh backoff on this process's clock and randomness."""
        return Backoff(policy or BackoffPolicy(), self.clock, self.random)

    async def compute(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run CPU work off the event loop and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.executor, lambda: work(*args, **kwargs))


def new_id(random: Random) -> str:
    """Return a random UUID, the same for the same state of `random`."""
    return str(uuid.UUID(int=random.getrandbits(128), version=4))
