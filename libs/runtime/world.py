"""Several services in one process, joined in memory, on one simulated clock.

    def test_the_loop() -> None:
        async def scenario() -> None:
            async with World(seed=1) as world:
                await world.start("solver", solver.build, SolverSettings(), "solver:1")
                await world.start("watcher", watcher.build, WatcherSettings(...), "watcher:1")
                await world.sleep(timedelta(minutes=5))
        run_virtual(scenario())

Each service is made by its own `build` and lives by the same `serve` as in production. `kill` ends
one at once, as a crash does (`strike` does the same from within a call); `stop` ends it in order;
`start` again gives it a new boot id.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import grpc
from prometheus_client import CollectorRegistry

from libs.runtime import server
from libs.runtime.app import App, Runtime, new_id
from libs.runtime.authorization import AuthorizationTable
from libs.runtime.clock import LoopClock
from libs.runtime.guard import Guard
from libs.runtime.health import Health
from libs.runtime.memory.network import MemoryNetwork
from libs.runtime.memory.server import MemoryServer
from libs.runtime.metrics import ServerMetrics
from libs.runtime.network import Network
from libs.runtime.randomness import Random
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.serving import Listener, serve
from libs.runtime.timeouts import CallDeadlines

START = datetime(2026, 1, 1, tzinfo=UTC)

ALL_TRUSTED = AuthorizationTable(rows={"*": frozenset({"*"})})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """One service of a world."""

    runtime: Runtime
    app: App
    stop: asyncio.Event
    sever: Callable[[], None]
    task: "asyncio.Task[None]"


class Peer(Network, Protocol):
    """The network as one process uses it."""

    def cut_off(self) -> None:
        """Let nothing through any more, as befalls a process that is killed."""


class Sockets(Protocol):
    """Real addresses in place of those in memory."""

    def listen(self, address: str, guard: Guard) -> grpc.aio.Server:
        """Return a server that stands for `host:port`."""

    def name(self, target: str, addresses: tuple[str, ...]) -> None:
        """Let a headless `host:port` resolve to these addresses."""

    def seen_by(self, identity: str) -> Peer:
        """Return the network as a process uses it."""

    async def close(self) -> None:
        """Close the channels of all."""


class World:
    """The services of one scenario; leaving it ends those that still run."""

    def __init__(
        self,
        *,
        seed: int = 0,
        start: datetime = START,
        table: AuthorizationTable = ALL_TRUSTED,
        settings: RuntimeSettings | None = None,
        network: MemoryNetwork | Sockets | None = None,
    ) -> None:
        self.clock = LoopClock(start)
        self.network: MemoryNetwork | Sockets = network or MemoryNetwork()
        self.services: dict[str, Running] = {}
        self._random = Random(seed)
        self._table = table
        self._dying: set[asyncio.Task[None]] = set()
        self._settings = settings or RuntimeSettings()

    async def start(
        self,
        name: str,
        build: Callable[[T, Runtime], App],
        settings: T,
        address: str,
        *,
        identity: str = "",
        sever: Callable[[], None] = lambda: None,
    ) -> Running:
        """Build a service, let it listen at `address` and start its tasks.

        Args:
            name: the service's name in this world; a second replica has a name of its own.
            build: the service's own.
            settings: the service's own.
            address: `host:port`; whoever listened there before is replaced.
            identity: who it is towards the others, as its certificate says; empty: its name.
            sever: called by `kill`; must make every port that the test gave to `settings` fail.
        """
        peer = self.network.seen_by(identity or name)
        runtime = a_runtime(
            name,
            network=peer,
            clock=self.clock,
            random=self._fork(),
            settings=self._settings,
        )
        app = build(settings, runtime)
        guard = Guard(
            table=self._table, deadlines=CallDeadlines(), metrics=ServerMetrics(runtime.metrics)
        )
        listening = self._listen(address, guard)
        services = server.register(listening, app.servicers, runtime.health)
        listener = Listener(server=listening, guard=guard, services=services)
        stop = asyncio.Event()
        grace = self._settings.grace_period
        life = serve(app, (listener,), runtime.health, stop, grace)
        task = asyncio.create_task(life, name=f"service {name}")

        def sever_all() -> None:
            peer.cut_off()
            if isinstance(listening, MemoryServer):
                listening.vanish()
            sever()

        self.services[name] = Running(
            runtime=runtime, app=app, stop=stop, task=task, sever=sever_all
        )
        await asyncio.sleep(0)  # lets the service's tasks begin, takes no time
        return self.services[name]

    async def stop(self, name: str) -> None:
        """End a service in order, as SIGTERM does."""
        running = self.services.pop(name)
        running.stop.set()
        await running.task

    async def kill(self, name: str) -> None:
        """End a service where it stands, as a crash does, and wait until nothing of it runs."""
        await asyncio.wait({self.strike(name)})

    def strike(self, name: str) -> "asyncio.Task[None]":
        """Let a service die at this instant; return its task, which ends a little later.

        It is cut off from the world first: what it would still do to clean up reaches nobody.
        """
        running = self.services.pop(name)
        running.sever()
        running.task.cancel()
        self._dying.add(running.task)
        running.task.add_done_callback(self._bury)
        return running.task

    async def sleep(self, span: timedelta) -> None:
        """Let simulated time pass; raise at once if a service ends by itself."""
        await self._watched(self.clock.sleep(span))

    async def until(
        self, condition: Callable[[], bool], *, within: timedelta, every: timedelta
    ) -> None:
        """Let time pass until `condition` holds.

        Raises:
            TimeoutError: it did not hold `within` that span.
        """
        async with asyncio.timeout(within.total_seconds()):
            while not condition():
                await self.sleep(every)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        for name in tuple(self.services):
            if exc_type is None and not self.services[name].task.done():
                await self.stop(name)
            else:
                self.strike(name)
        if self._dying:
            await asyncio.wait(self._dying)
        if not isinstance(self.network, MemoryNetwork):
            await self.network.close()

    async def _watched(self, waiting: Coroutine[Any, Any, None]) -> None:
        sleeper = asyncio.ensure_future(waiting)
        try:
            while not sleeper.done():
                tasks = {running.task for running in self.services.values()}
                await asyncio.wait({sleeper, *tasks}, return_when=asyncio.FIRST_COMPLETED)
                for running in self.services.values():
                    if running.task.done():
                        await running.task
        finally:
            sleeper.cancel()

    def _bury(self, task: "asyncio.Task[None]") -> None:
        self._dying.discard(task)
        if not task.cancelled():
            task.exception()  # what a process says while it dies is nobody's failure

    def _listen(self, address: str, guard: Guard) -> grpc.aio.Server:
        if not isinstance(self.network, MemoryNetwork):
            return self.network.listen(address, guard)
        memory_server = MemoryServer(guard)
        self.network.listen(address, memory_server)
        return memory_server

    def _fork(self) -> Random:
        return Random(self._random.getrandbits(64))


def a_runtime(
    service: str = "test",
    *,
    network: Network | None = None,
    clock: LoopClock | None = None,
    random: Random | None = None,
    settings: RuntimeSettings | None = None,
) -> Runtime:
    """Return a runtime with simulated parts; its compute threads run inline on a virtual loop."""
    seeded = random or Random(0)
    return Runtime(
        service=service,
        boot_id=new_id(seeded),
        settings=settings or RuntimeSettings(),
        clock=clock or LoopClock(START),
        random=seeded,
        metrics=CollectorRegistry(),
        health=Health(),
        network=network or MemoryNetwork().seen_by(service),
        executor=ThreadPoolExecutor(1),  # starts no thread before it is used
    )
