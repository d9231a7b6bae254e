"""Put the watcher together."""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from joiner.watcher.v1.watcher_pb2_grpc import add_WatcherServiceServicer_to_server

from libs.clients.outbox import SnapshotOutbox
from libs.clients.provider import ProviderClient
from libs.cluster.state import ClusterState, StateOptions
from libs.collections.batcher import Batcher
from libs.domain.feature_gates import FeatureGate
from libs.kube import api as kinds
from libs.kube.api import KubeApi, Resource
from libs.kube.credentials import Credentials
from libs.kube.informer import Informers
from libs.kube.leases import KubeLeaseStore
from libs.kube.transport import HttpKubeApi
from libs.runtime.app import App, Runtime
from libs.runtime.latest import LatestValue
from libs.runtime.leader import Leadership
from libs.runtime.lease import LeaseStore, MemoryLeaseStore
from services.watcher.adapters.feed import Effects, Feed
from services.watcher.adapters.lifecycle import LeadingLifecycle
from services.watcher.adapters.providers import ProviderFollower, Providers, Surroundings
from services.watcher.adapters.rivals import KarpenterLease
from services.watcher.adapters.scheduler_config import read_default_spread
from services.watcher.adapters.sinks import Sinks
from services.watcher.adapters.solvers import HoldingSolvers
from services.watcher.config import Settings
from services.watcher.journal import Journal
from services.watcher.loop import Peers, Policy, Provisioning
from services.watcher.metrics import Metrics
from services.watcher.publisher import Publisher
from services.watcher.servicer import WatcherServicer

_ALWAYS = (
    kinds.PODS,
    kinds.NODES,
    kinds.NODE_CLAIMS,
    kinds.NODE_POOLS,
    kinds.NAMESPACES,
    kinds.DAEMON_SETS,
    kinds.POD_DISRUPTION_BUDGETS,
    kinds.PERSISTENT_VOLUME_CLAIMS,
    kinds.PERSISTENT_VOLUMES,
    kinds.STORAGE_CLASSES,
    kinds.CSI_DRIVERS,
    kinds.CSI_NODES,
    kinds.CSI_STORAGE_CAPACITIES,
    kinds.VOLUME_ATTACHMENTS,
    kinds.PRIORITY_CLASSES,
    kinds.RUNTIME_CLASSES,
    kinds.RESOURCE_CLAIMS,
    kinds.RESOURCE_CLAIM_TEMPLATES,
    kinds.RESOURCE_SLICES,
    kinds.DEVICE_CLASSES,
    kinds.POD_GROUPS,
)
_FOR_BUFFERS = (
    kinds.CAPACITY_BUFFERS,
    kinds.POD_TEMPLATES,
    kinds.DEPLOYMENTS,
    kinds.REPLICA_SETS,
    kinds.STATEFUL_SETS,
)
_FOR_DEFAULT_SPREAD = (
    kinds.SERVICES,
    kinds.REPLICATION_CONTROLLERS,
    kinds.REPLICA_SETS,
    kinds.STATEFUL_SETS,
)


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app on the API server of the settings."""
    api = HttpKubeApi(Credentials(settings.kubeconfig), agent="joiner-watcher")
    return replace(assemble(settings, runtime, api), close=api.close)


def assemble(settings: Settings, runtime: Runtime, api: KubeApi) -> App:
    """Return the app on any API server."""
    metrics = Metrics(runtime.metrics)
    observed = _observe(settings, runtime, api, metrics)
    rivals = KarpenterLease(api, runtime.clock, runtime.health, metrics)
    store: LeaseStore = MemoryLeaseStore()
    if settings.leader.enabled:
        store = KubeLeaseStore(api, settings.lease_namespace, settings.lease_name)
    leadership = Leadership(
        store=store,
        boot_id=runtime.boot_id,
        settings=settings.leader,
        clock=runtime.clock,
        random=runtime.random,
    )
    term = _Term(settings, runtime, metrics, observed, rivals, leadership)
    servicer = WatcherServicer(observed.outbox, observed.journal)
    return App(
        servicers=(partial(add_WatcherServiceServicer_to_server, servicer),),
        tasks={
            "informers": observed.informers.run,
            "providers": observed.providers.run,
            "rivals": rivals.run,
            "leadership": partial(leadership.run, term.run),
        },
        ready=partial(_first_lists, observed, runtime),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Observed:
    """What a watcher keeps whether it leads or not, so that a standby is warm."""

    state: ClusterState
    changes: LatestValue[None]
    batcher: Batcher[str]
    informers: Informers
    providers: Providers
    outbox: SnapshotOutbox
    journal: Journal
    publisher: Publisher


def _observe(settings: Settings, runtime: Runtime, api: KubeApi, metrics: Metrics) -> _Observed:
    clock = runtime.clock
    buffers = settings.is_open(FeatureGate.CAPACITY_BUFFER)
    state = ClusterState(
        StateOptions(
            capacity_buffers=buffers,
            default_spread=read_default_spread(settings.scheduler_config),
        )
    )
    changes: LatestValue[None] = LatestValue()
    batcher: Batcher[str] = Batcher(settings.window, clock)
    followers: dict[str, ProviderFollower] = {}
    providers = Providers(followers, clock)
    feed = Feed(
        state,
        Effects(
            batcher=batcher,
            changes=changes,
            pools_changed=providers.pools_changed,
            launch_failed=providers.launch_failed,
            buffers=buffers,
        ),
    )
    around = Surroundings(
        api=api,
        state=state,
        feed=feed,
        changes=changes,
        clock=clock,
        random=runtime.random,
        metrics=metrics,
    )
    for group, address in settings.providers.items():
        client = ProviderClient(runtime.network.channel(address))
        followers[group] = ProviderFollower(group, client, around)
    informers = Informers(api, _watched(settings), feed, clock, runtime.random)
    began = clock.monotonic()
    metrics.observe_sync(lambda: not informers.unsynced(), lambda: clock.monotonic() - began)
    outbox = SnapshotOutbox()
    publisher = Publisher(
        cluster_id=runtime.settings.cluster_id,
        state=state,
        changes=changes,
        outbox=outbox,
        clock=clock,
        metrics=metrics,
    )
    return _Observed(
        state=state,
        changes=changes,
        batcher=batcher,
        informers=informers,
        providers=providers,
        outbox=outbox,
        journal=Journal(),
        publisher=publisher,
    )


def _watched(settings: Settings) -> tuple[Resource, ...]:
    found = (
        *_ALWAYS,
        *(_FOR_BUFFERS if settings.is_open(FeatureGate.CAPACITY_BUFFER) else ()),
        *((kinds.NODE_OVERLAYS,) if settings.is_open(FeatureGate.NODE_OVERLAY) else ()),
        *(_FOR_DEFAULT_SPREAD if settings.scheduler_config else ()),
    )
    return tuple(dict.fromkeys(found))


async def _first_lists(observed: _Observed, runtime: Runtime) -> None:
    """Wait until the cluster is known; what it is made of lives on."""
    await observed.informers.wait_synced()
    runtime.spare()


@dataclass(frozen=True, slots=True)
class _Term:
    """What a watcher does while it leads."""

    settings: Settings
    runtime: Runtime
    metrics: Metrics
    observed: _Observed
    rivals: KarpenterLease
    leadership: Leadership

    async def run(self) -> None:
        """Push and provision until the lease is lost."""
        epoch = self.leadership.epoch
        await self.observed.informers.wait_synced()
        self.observed.publisher.begin_term(epoch)
        sinks = Sinks(
            (self.settings.solver_address, *self.settings.sinks),
            outbox=self.observed.outbox,
            network=self.runtime.network,
            clock=self.runtime.clock,
            backoff=self.runtime.backoff,
            metrics=self.metrics,
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(sinks.run(), name="sinks")
            group.create_task(self.observed.publisher.run(), name="publisher")
            group.create_task(self._provisioning(sinks).run(), name="provisioning")

    def _provisioning(self, sinks: Sinks) -> Provisioning:
        network, observed = self.runtime.network, self.observed
        peers = Peers(
            solver=HoldingSolvers(self.settings.solver_address, sinks, network),
            lifecycle=LeadingLifecycle(self.settings.lifecycle_address, network),
            rivals=self.rivals,
            catalogues=observed.providers,
            relist_claims=partial(observed.informers.relist, kinds.NODE_CLAIMS),
            require_leadership=self.leadership.require_leadership,
        )
        return Provisioning(
            batcher=observed.batcher,
            state=observed.state,
            changes=observed.changes,
            publisher=observed.publisher,
            journal=observed.journal,
            peers=peers,
            policy=Policy(options=self.settings.solve_options, nomination=self.settings.nomination),
            clock=self.runtime.clock,
            backoff=self.runtime.backoff(),
            metrics=self.metrics,
        )
