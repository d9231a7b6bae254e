"""Put disruption together."""

from dataclasses import replace
from functools import partial

from joiner.disruption.v1.disruption_pb2_grpc import add_DisruptionServiceServicer_to_server
from joiner.snapshot.v1.snapshot_pb2_grpc import add_SnapshotSinkServiceServicer_to_server

from libs.kube.api import KubeApi
from libs.kube.credentials import Credentials
from libs.kube.leases import KubeLeaseStore
from libs.kube.transport import HttpKubeApi
from libs.runtime.app import App, Runtime
from libs.runtime.leader import Leadership
from libs.runtime.lease import LeaseStore, MemoryLeaseStore
from libs.snapshots.health import show_held
from libs.snapshots.holder import HomeCluster, SnapshotHolder
from libs.snapshots.servicer import SnapshotSinkServicer
from services.disruption.adapters.lifecycle import LeadingLifecycle
from services.disruption.config import Settings
from services.disruption.core.methods import METHODS
from services.disruption.loop import DisruptionLoop, Surroundings
from services.disruption.metrics import Metrics
from services.disruption.record import CommandRecord
from services.disruption.servicer import DisruptionServicer


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app on the API server of the settings, which is asked for the lease only."""
    api = HttpKubeApi(Credentials(settings.kubeconfig), agent="joiner-disruption")
    return replace(assemble(settings, runtime, api), close=api.close)


def assemble(settings: Settings, runtime: Runtime, api: KubeApi) -> App:
    """Return the app on any API server."""
    home = HomeCluster(cluster_id=runtime.settings.cluster_id, identity=settings.watcher_identity)
    holder = SnapshotHolder(clock=runtime.clock, home=home)
    record = CommandRecord(settings.stale_after)
    leadership = Leadership(
        store=_lease_store(settings, api),
        boot_id=runtime.boot_id,
        settings=settings.leader,
        clock=runtime.clock,
        random=runtime.random,
    )
    around = Surroundings(
        holder=holder,
        lifecycle=LeadingLifecycle(settings.lifecycle_address, runtime.network),
        record=record,
        metrics=Metrics(runtime.metrics, METHODS),
        runtime=runtime,
        require_leadership=leadership.require_leadership,
    )
    loop = DisruptionLoop(around, settings, METHODS)
    decisions = DisruptionServicer(holder, record, runtime)
    return App(
        servicers=(
            partial(add_SnapshotSinkServiceServicer_to_server, SnapshotSinkServicer(holder)),
            partial(add_DisruptionServiceServicer_to_server, decisions),
        ),
        tasks={
            "snapshots": partial(show_held, holder, runtime.health),
            "leader": partial(leadership.run, loop.run),
        },
    )


def _lease_store(settings: Settings, api: KubeApi) -> LeaseStore:
    if not settings.leader.enabled:
        return MemoryLeaseStore()
    return KubeLeaseStore(api, settings.lease_namespace, settings.lease_name)
