"""Put lifecycle together."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from joiner.lifecycle.v1.lifecycle_pb2_grpc import add_LifecycleServiceServicer_to_server

from libs.clients.provider import ProviderClient
from libs.kube.api import KubeApi, Resource
from libs.kube.credentials import Credentials
from libs.kube.events import EventRecorder, Rate
from libs.kube.informer import Informer, Informers
from libs.kube.leases import KubeLeaseStore
from libs.kube.transport import HttpKubeApi
from libs.runtime.app import App, Runtime
from libs.runtime.leader import Leadership
from services.lifecycle.access import Access
from services.lifecycle.adapters.cache import RESOURCES, Cache
from services.lifecycle.adapters.permission import (
    GuardedKubeApi,
    GuardedProvider,
    LeaderPermission,
)
from services.lifecycle.adapters.providers import Providers
from services.lifecycle.adapters.writer import Writer
from services.lifecycle.applying import ClaimMaker, PlanApplier
from services.lifecycle.commands import CommandBoard, CommandReconciler
from services.lifecycle.config import Settings
from services.lifecycle.evicting import Evictor
from services.lifecycle.executing import CommandExecutor
from services.lifecycle.leading import Leading
from services.lifecycle.metrics import Metrics
from services.lifecycle.ports import Provider
from services.lifecycle.premises import Nominations, Premises
from services.lifecycle.publishing import Publisher
from services.lifecycle.queue import AdmissionQueue
from services.lifecycle.routing import Router
from services.lifecycle.servicer import LifecycleServicer

_EVENT_RATES = {"Nominated": Rate(per_second=5, burst=10)}


def build(settings: Settings, runtime: Runtime) -> App:
    """Return the app on the API server and the providers of the settings."""
    api = HttpKubeApi(Credentials(settings.kubeconfig), agent="joiner-lifecycle")
    return replace(assemble(settings, runtime, api), close=api.close)


def assemble(settings: Settings, runtime: Runtime, api: KubeApi) -> App:
    """Return the app on any API server; providers are found through the runtime's network."""
    clients = {
        group: ProviderClient(runtime.network.channel(address))
        for group, address in settings.providers.items()
    }
    return assemble_with(settings, runtime, api, clients)


def assemble_with(
    settings: Settings, runtime: Runtime, api: KubeApi, clients: Mapping[str, Provider]
) -> App:
    """Return the app on any API server and any providers, by group of their node classes."""
    leadership = Leadership(
        store=KubeLeaseStore(api, settings.lease_namespace, settings.lease_name),
        boot_id=runtime.boot_id,
        settings=settings.leader,
        clock=runtime.clock,
        random=runtime.random,
    )
    permission = LeaderPermission(leadership, api, runtime.clock)
    guarded = GuardedKubeApi(api, permission)
    recorder = EventRecorder(guarded, runtime.clock, runtime.random, _EVENT_RATES)
    router = Router()
    cache = Cache(router.changed)
    metrics = Metrics(runtime.metrics)
    access = Access(
        cache=cache,
        providers=Providers(
            {group: GuardedProvider(one, permission) for group, one in clients.items()}, runtime
        ),
        writer=Writer(guarded, cache, recorder, metrics, runtime.clock),
        metrics=metrics,
        clock=runtime.clock,
    )
    queue = AdmissionQueue(permission, runtime.settings.cluster_id, metrics)
    commands = CommandReconciler(access, CommandBoard(runtime.clock), router.enqueue)
    informers = Informers(api, RESOURCES, cache, runtime.clock, runtime.random)
    leading = Leading(access, router, queue, commands, informers, runtime)
    servicer = _servicer(settings, access, queue, commands)

    def follow(resource: Resource) -> Informer:
        return Informer(api, resource, cache, runtime.clock, runtime.random)

    return App(
        servicers=(partial(add_LifecycleServiceServicer_to_server, servicer),),
        tasks={
            "informers": informers.run,
            "rival": permission.watch_rival,
            "providers": partial(access.providers.run, follow, leading.provider_answered),
            "events": recorder.run,
            "leader": partial(leadership.run, leading.lead),
        },
        ready=informers.wait_synced,
    )


def _servicer(
    settings: Settings, access: Access, queue: AdmissionQueue, commands: CommandReconciler
) -> LifecycleServicer:
    nominations = Nominations(access.clock, settings.nomination_window)
    premises = Premises(access, nominations)
    maker = ClaimMaker(access)
    publisher = Publisher(access.cache, access.writer.publish)
    return LifecycleServicer(
        queue,
        PlanApplier(queue, access.cache, premises, maker, publisher),
        CommandExecutor(access, queue, premises, maker, commands),
        publisher,
        Evictor(access),
    )
