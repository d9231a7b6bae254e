"""A simulated cluster and all services in this process, on simulated time, for a script to play on.

Each service is put together by its own `assemble`; they talk gRPC and to Kubernetes in memory. That
makes an hour pass in seconds and, with what costs real time left out (plans are not refined), the
same script bring about the same, byte for byte.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from libs.runtime.app import App, Runtime
from libs.runtime.leader import LeaderSettings
from libs.runtime.world import START, World
from services.disruption import app as disruption
from services.disruption.config import Settings as DisruptionSettings
from services.lifecycle import app as lifecycle
from services.lifecycle.config import Settings as LifecycleSettings
from services.provider_kwok import app as provider_kwok
from services.provider_kwok.config import Settings as KwokSettings
from services.simulator import app as simulator
from services.simulator.app import Documents, Staging, sky_over
from services.simulator.config import Settings as SimulatorSettings
from services.simulator.core.api.server import ApiServer
from services.simulator.memory_api import MemoryKubeApi
from services.simulator.script.chronicle import Chronicle
from services.simulator.script.journal import Entry
from services.simulator.script.reading import Loaded
from services.simulator.sky import Sky
from services.simulator.state.loading import captured_at
from services.solver import app as solver
from services.solver.config import Settings as SolverSettings
from services.watcher import app as watcher
from services.watcher.config import Settings as WatcherSettings

_GROUP = "karpenter.kwok.sh"
_SIMULATOR = "simulator"


def _target(service: str) -> str:
    return f"{service}:1"


_UNRIVALLED = LeaderSettings(duration=timedelta(minutes=1), retry_period=timedelta(seconds=10))
"""There is one replica of each service: how often it renews its lease decides nothing but how long
a run takes."""

_PROVIDERS = {_GROUP: _target("provider_kwok")}
_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "solver": SolverSettings(watcher_identity="watcher"),
        "lifecycle": LifecycleSettings(leader=_UNRIVALLED, providers=_PROVIDERS),
        "disruption": DisruptionSettings(
            leader=_UNRIVALLED, watcher_identity="watcher", lifecycle_address=_target("lifecycle")
        ),
        "watcher": WatcherSettings(
            leader=_UNRIVALLED,
            solver_address=_target("solver"),
            lifecycle_address=_target("lifecycle"),
            sinks=(_target("disruption"),),
            providers=_PROVIDERS,
            # A budget is real time: what comes of it is not the same twice.
            refine_budget=timedelta(),
        ),
    }
)
_BUILDS: Mapping[str, Callable[[Any, Runtime, MemoryKubeApi], App]] = MappingProxyType(
    {
        "provider_kwok": provider_kwok.assemble,
        "solver": lambda settings, runtime, _api: solver.build(settings, runtime),
        "lifecycle": lifecycle.assemble,
        "disruption": disruption.assemble,
        "watcher": watcher.assemble,
    }
)
"""In the order in which they are started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be put together."""

    script: Loaded
    tell: Callable[[Entry], None]
    """Told what the script does and what comes of it."""
    joiner: bool = True
    """Whether Joiner's services run, or the cluster alone."""
    catalogue: str = "aws"
    simulator: SimulatorSettings = field(default_factory=SimulatorSettings)


@dataclass(slots=True, kw_only=True)
class Whole:
    """A cluster that lives; time passes by `world.sleep`."""

    world: World
    server: ApiServer
    sky: Sky
    chronicle: Chronicle


@contextlib.asynccontextmanager
async def put_together(wanted: Wanted) -> AsyncIterator[Whole]:
    """Yield a cluster on which the script begins to play now, all services up.

    One that begins with a dump begins at the instant at which that was captured.

    Raises:
        InvalidRequest: a CRD, the state or the catalogue cannot be read.
    """
    documents = simulator.read_state(wanted.simulator)
    start = captured_at(documents) or START
    async with World(seed=wanted.script.script.seed, start=start) as world:
        whole = await _start_cluster(world, wanted, documents)
        if wanted.joiner:
            for name in _BUILDS:
                await _start(whole, name, wanted)
        yield whole


async def _start_cluster(world: World, wanted: Wanted, documents: Documents) -> Whole:
    made: list[Whole] = []

    def build(settings: SimulatorSettings, runtime: Runtime) -> App:
        server = simulator.new_server(settings, runtime)
        simulator.load_state(settings, server, documents)
        sky = sky_over(server, wanted.script)
        chronicle = Chronicle(server.store, wanted.tell)
        made.append(Whole(world=world, server=server, sky=sky, chronicle=chronicle))
        staging = Staging(script=wanted.script, sky=sky, tell=wanted.tell, watching=(chronicle,))
        return simulator.assemble(settings, runtime, server, staging)

    await world.start(_SIMULATOR, build, wanted.simulator, _target(_SIMULATOR))
    return made[0]


async def _start(whole: Whole, name: str, wanted: Wanted) -> None:
    line = MemoryKubeApi(whole.server, agent=f"joiner-{name}", sky=whole.sky)
    settings = _SETTINGS.get(name) or KwokSettings(catalogue=wanted.catalogue)

    def build(given: Any, runtime: Runtime) -> App:
        return _BUILDS[name](given, runtime, line)

    await whole.world.start(name, build, settings, _target(name), identity=name, sever=line.cut)
