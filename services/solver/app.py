"""Put the solver together."""

from datetime import timedelta
from functools import partial

from joiner.snapshot.v1.snapshot_pb2_grpc import add_SnapshotSinkServiceServicer_to_server
from joiner.solver.v1.solver_pb2_grpc import (
    SolverServiceServicer,
    add_SolverServiceServicer_to_server,
)

from libs.runtime.app import App, RootTask, Runtime
from libs.runtime.machine import cores
from libs.snapshots.health import show_held
from libs.snapshots.holder import HolderLimits, HomeCluster, SnapshotHolder
from libs.snapshots.servicer import SnapshotSinkServicer
from services.solver.ahead import Ahead
from services.solver.columns import ColumnsCache
from services.solver.config import Settings
from services.solver.metrics import CrewMetrics, Metrics
from services.solver.servicer import SolverServicer
from services.solver.sharing.crew import Crew, CrewPolicy
from services.solver.sharing.servicer import SharingServicer, Watched
from services.solver.warming import keep_warm

_SERVICE = "/joiner.solver.v1.SolverService"
PUBLIC_METHODS = frozenset(
    f"{_SERVICE}/{method}" for method in ("Solve", "Simulate", "Consolidate", "Explain")
)
"""All of them: a question changes nothing."""

_PATIENCE = timedelta(seconds=2)
"""Most decisions take less; whoever asked for a longer one asks the next replica."""


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app; its process shares the work with others where it may have them."""
    home = HomeCluster(cluster_id=runtime.settings.cluster_id, identity=settings.watcher_identity)
    limits = HolderLimits(
        clusters=settings.foreign_clusters,
        size_bytes=settings.foreign_bytes,
        idle=settings.foreign_idle,
    )
    columns = ColumnsCache(size=settings.catalogues)
    metrics = Metrics(runtime.metrics)
    ahead = Ahead(columns, runtime)
    holder = SnapshotHolder(clock=runtime.clock, home=home, limits=limits, look=ahead.look)
    here = SolverServicer(holder, columns, ahead, metrics, runtime)
    solver: SolverServiceServicer = here
    tasks: dict[str, RootTask] = {
        "snapshots": partial(show_held, holder, runtime.health),
        "warming": partial(keep_warm, holder, columns, runtime),
    }
    policy = CrewPolicy(processes=settings.processes or cores())
    if policy.processes > 1 and runtime.spawn is not None:
        crew_metrics = CrewMetrics(runtime.metrics)
        crew = Crew(runtime.spawn, holder, runtime, policy, crew_metrics)
        solver = SharingServicer(here, crew, holder, runtime, Watched(metrics, crew_metrics))
        tasks["peers"] = crew.run
    return App(
        servicers=(
            partial(add_SnapshotSinkServiceServicer_to_server, SnapshotSinkServicer(holder)),
            partial(add_SolverServiceServicer_to_server, solver),
        ),
        tasks=tasks,
        patience=_PATIENCE,
        public_methods=PUBLIC_METHODS,
    )
