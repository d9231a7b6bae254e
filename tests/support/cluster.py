"""The whole loop in one process: a simulated cluster, and every service by its own `assemble`.

    async with a_cluster() as cluster:
        await cluster.start_all()
        cluster.add_pool()
        cluster.scale("web", 6)
        await cluster.until(cluster.all_pods_run)

Simulated time, gRPC in memory. A process is named after its service and its place (`watcher-1`). It
talks to Kubernetes through a line of its own, which can be cut, and which notes its mutations.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from libs.runtime.app import App, Runtime
from services.disruption import app as disruption
from services.disruption.config import Settings as DisruptionSettings
from services.lifecycle import app as lifecycle
from services.lifecycle.config import Settings as LifecycleSettings
from services.provider_kwok import app as provider_kwok
from services.provider_kwok.config import Settings as KwokSettings
from services.simulator import app as simulator
from services.simulator.config import Settings as SimulatorSettings
from services.simulator.core.api.plugins.admission import ALL_PLUGINS
from services.solver import app as solver
from services.solver.config import Settings as SolverSettings
from services.watcher import app as watcher
from services.watcher.config import Settings as WatcherSettings
from tests.support.memory_api import CountingKubeApi, MemoryKubeApi, new_server
from tests.support.mutations import Mutations, NotedNetwork
from tests.support.objects import CLAIMS, CLASSES, POOLS, Object, a_class, a_pool, a_workload
from tests.support.sockets import SocketNetwork
from tests.support.world import World

CATALOGUE = Path(__file__).parent / "catalogue.json"
"""Two types: `small` for two pods of `scale`, `large` for four."""

GROUP = "karpenter.kwok.sh"

SERVICES = ("simulator", "provider_kwok", "solver", "lifecycle", "disruption", "watcher")
"""In the order in which they are started; the solver has no line to Kubernetes."""

_PAUSE = timedelta(milliseconds=250)


def target(service: str) -> str:
    """Return the name under which all replicas of a service are found."""
    return f"{service}:9000"


SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "simulator": SimulatorSettings(),
        "provider_kwok": KwokSettings(catalogue=str(CATALOGUE)),
        "solver": SolverSettings(watcher_identity="watcher"),
        "lifecycle": LifecycleSettings(providers={GROUP: target("provider_kwok")}),
        "disruption": DisruptionSettings(
            watcher_identity="watcher", lifecycle_address=target("lifecycle")
        ),
        "watcher": WatcherSettings(
            solver_address=target("solver"),
            lifecycle_address=target("lifecycle"),
            sinks=(target("disruption"),),
            providers={GROUP: target("provider_kwok")},
            # A budget is real time: what comes of it is not the same twice.
            refine_budget=timedelta(),
        ),
    }
)


@dataclass(frozen=True, slots=True)
class History:
    """What there has ever been, by name."""

    claims: tuple[str, ...]
    nodes: tuple[str, ...]
    pods_of: Mapping[str, frozenset[str]]
    """Names of the pods that ran on a node."""


class Cluster:
    """One cluster with the whole loop."""

    def __init__(self, world: World, processes: asyncio.TaskGroup) -> None:
        self.world = world
        self.server = new_server(world.clock, plugins=ALL_PLUGINS)
        self.api = self.server.direct
        self.mutations = Mutations()
        self.lines: dict[str, MemoryKubeApi] = {}
        """The newest line to Kubernetes of each process."""
        self.settings = dict(SETTINGS)
        self.lag = timedelta()
        """How late the watches of processes that are started from now on tell of changes."""
        self._processes = processes
        self._replicas: dict[str, int] = {}
        self._watches = {kind: self.api.watch(kind) for kind in (CLAIMS, "nodes", "pods")}

    # Processes

    async def start_all(self, replicas: Mapping[str, int] = MappingProxyType({})) -> None:
        """Start every service, one process each unless `replicas` says more."""
        for service in SERVICES:
            self._replicas[service] = replicas.get(service, 1)
            self.world.network.name(target(service), tuple(map(_address, self.replicas(service))))
        for service in SERVICES:
            for process in self.replicas(service):
                await self.start(process)

    async def start(self, process: str) -> None:
        """Start one process; whatever ran under this name must be gone."""
        service = service_of(process)
        line = MemoryKubeApi(self.server, agent=f"joiner-{service}")
        line.lag = self.lag
        self.lines[process] = line
        build = partial(self._build, process, line)
        await self.world.start(
            process,
            build,
            self.settings[service],
            _address(process),
            identity=service,
            sever=line.cut,
        )

    def strike(self, process: str, *, back_after: timedelta, acting: str = "") -> None:
        """Let a process die at this instant, and another take its place after a while.

        Raises:
            CancelledError: the process is the one that is `acting`, which does nothing more.
        """
        dying = self.world.strike(process)

        async def come_back() -> None:
            await asyncio.wait({dying})
            await self.world.clock.sleep(back_after)
            await self.start(process)

        self._processes.create_task(come_back(), name=f"restart {process}")
        if process == acting:
            raise asyncio.CancelledError

    def replicas(self, service: str) -> tuple[str, ...]:
        """Return the names of a service's processes."""
        return tuple(f"{service}-{number + 1}" for number in range(self._replicas[service]))

    def leader(self, service: str) -> str:
        """Return the process that holds a service's lease, empty while none does."""
        lease = self.api.find("leases.coordination.k8s.io", f"joiner-{service}", "kube-system")
        holder = lease["spec"].get("holderIdentity") if lease else None
        running = self.world.services
        return next(
            (
                one
                for one in self.replicas(service)
                if one in running and running[one].runtime.boot_id == holder
            ),
            "",
        )

    def _build(self, process: str, line: MemoryKubeApi, settings: Any, runtime: Runtime) -> App:
        noted = partial(self.mutations.noted, process)
        runtime = replace(runtime, network=NotedNetwork(runtime.network, self.mutations, process))
        api = CountingKubeApi(line, noted)
        match service_of(process):
            case "simulator":
                return simulator.assemble(settings, runtime, self.server)
            case "provider_kwok":
                return provider_kwok.assemble(settings, runtime, api)
            case "solver":
                return solver.build(settings, runtime)
            case "lifecycle":
                return lifecycle.assemble(settings, runtime, api)
            case "disruption":
                return disruption.assemble(settings, runtime, api)
            case "watcher":
                return watcher.assemble(settings, runtime, api)
        raise ValueError(process)

    # What the user does

    def add_pool(self, name: str = "default", **spec: Any) -> None:
        """Apply a pool, and the class of all pools if it is not there."""
        if self.api.find(CLASSES, "default") is None:
            self.api.create(CLASSES, a_class())
        self.api.create(POOLS, a_pool(name, **spec))

    def scale(self, name: str, replicas: int, cpu: str = "1500m") -> None:
        """Make a Deployment have so many pods."""
        if self.api.find("deployments.apps", name, "default") is None:
            self.api.create("deployments.apps", a_workload(name, replicas, cpu))
        else:
            change = {"spec": {"replicas": replicas}}
            self.api.patch("deployments.apps", name, change, "default")

    def remove_pool(self, name: str = "default") -> None:
        """Delete a pool and the class of all pools."""
        self.api.delete(POOLS, name)
        self.api.delete(CLASSES, "default")

    # What can be seen

    async def passed(self, seconds: float) -> None:
        """Let time pass."""
        await self.world.sleep(timedelta(seconds=seconds))

    async def until(
        self, condition: Callable[[], object], within: timedelta = timedelta(minutes=5)
    ) -> None:
        """Let time pass until something holds.

        Raises:
            AssertionError: it did not hold in time; tells what stands instead.
        """
        try:
            await self.world.until(lambda: bool(condition()), within=within, every=_PAUSE)
        except TimeoutError:
            what = getattr(condition, "__name__", condition)
            raise AssertionError(f"not within {within}: {what}\n{self.report()}") from None

    def all(self, kind: str) -> list[Object]:
        """Return all objects of a kind."""
        return list(self.api.list(kind))

    def run(self, count: int) -> bool:
        """Tell whether there are exactly so many pods and all of them run."""
        phases = [pod["status"].get("phase") for pod in self.all("pods")]
        return phases == ["Running"] * count

    def is_settled(self) -> bool:
        """Tell whether every node is ready for pods and nothing is under way."""
        claims = self.all(CLAIMS)
        return (
            len(self.all("nodes")) == len(claims)
            and not any(self.marks())
            and all(_is_true(claim, "Initialized") for claim in claims)
        )

    def is_empty(self) -> bool:
        """Tell whether neither claim nor node nor pod is left."""
        return not any(map(self.all, (CLAIMS, "nodes", "pods")))

    def marks(self) -> list[str]:
        """Return what a disruption leaves on nodes and claims while it is under way."""
        return [
            *(
                f"node {node['metadata']['name']}: taint {taint['key']}"
                for node in self.all("nodes")
                for taint in node["spec"].get("taints") or ()
            ),
            *(
                f"claim {claim['metadata']['name']}: annotation {key}"
                for claim in self.all(CLAIMS)
                for key in claim["metadata"].get("annotations") or ()
                if key == "joiner.io/command"
            ),
            *(
                f"{kind} {one['metadata']['name']}: being deleted"
                for kind in (CLAIMS, "nodes")
                for one in self.all(kind)
                if "deletionTimestamp" in one["metadata"]
            ),
        ]

    def left_behind(self) -> list[str]:
        """Return what must not be left once pods and pools are gone."""
        found = [f"{kind}: {one['metadata']['name']}" for kind, one in self._every_object()]
        ours = ("nodeclaims", "nodepools", "nodes", "kwoknodeclasses", "pods", "volumeattachments")
        return [one for one in found if one.startswith(ours)] + [
            f"finalizer {name} on {kind} {one['metadata']['name']}"
            for kind, one in self._every_object()
            for name in one["metadata"].get("finalizers") or ()
        ]

    def history(self) -> History:
        """Return what there has been since the beginning; asked for once, at the end."""
        events = {kind: watch.poll() for kind, watch in self._watches.items()}
        pods_of: dict[str, set[str]] = {}
        for event in events["pods"]:
            node = event.object.get("spec", {}).get("nodeName")
            if node:
                pods_of.setdefault(node, set()).add(event.object["metadata"]["name"])
        return History(
            claims=_added(events[CLAIMS]),
            nodes=_added(events["nodes"]),
            pods_of={node: frozenset(names) for node, names in pods_of.items()},
        )

    def report(self) -> str:
        """Return the state in a few lines, for a person who looks at a failure."""
        return "\n".join(
            [
                f"at {self.world.clock.monotonic():.1f} s, running: {sorted(self.world.services)}",
                *(_line(kind, one) for kind in (CLAIMS, "nodes", "pods") for one in self.all(kind)),
                *self.marks(),
            ]
        )

    def _every_object(self) -> Iterable[tuple[str, Object]]:
        for resource in self.server.store.resources:
            for one in self.server.store.list(resource.bucket):
                yield resource.plural, one


def service_of(process: str) -> str:
    """Return the service that a process belongs to."""
    return process.rpartition("-")[0]


@contextlib.asynccontextmanager
async def a_cluster(network: SocketNetwork | None = None) -> AsyncIterator[Cluster]:
    """Yield a cluster where nothing runs yet; joined in memory unless sockets are given."""
    async with World(seed=1, network=network) as world, asyncio.TaskGroup() as processes:
        yield Cluster(world, processes)


def _address(process: str) -> str:
    return f"{process}:1"


def _added(events: Iterable[Any]) -> tuple[str, ...]:
    return tuple(event.object["metadata"]["name"] for event in events if event.type == "ADDED")


def _is_true(obj: Object, kind: str) -> bool:
    conditions = obj.get("status", {}).get("conditions") or ()
    return any(one["type"] == kind and one["status"] == "True" for one in conditions)


def _line(kind: str, one: Object) -> str:
    status = one.get("status", {})
    shown = status.get("phase") or [
        f"{condition['type']}={condition['status']}" for condition in status.get("conditions") or ()
    ]
    return f"{kind} {one['metadata']['name']}: {shown}"
