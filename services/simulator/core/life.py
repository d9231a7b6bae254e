"""Everything that runs on top of the API server, in the order in which it is stepped.

Node states come first and the scheduler last, so that within one round it sees what all others did.
"""

from services.simulator.core.api.metrics_api import MetricsApi
from services.simulator.core.api.server import ApiServer
from services.simulator.core.client import Client
from services.simulator.core.controllers.accounts import account_controller
from services.simulator.core.controllers.attachments import attachment_controller
from services.simulator.core.controllers.budget import budget_controller
from services.simulator.core.controllers.cron_job import cron_job_controller
from services.simulator.core.controllers.daemon_set import daemon_set_controller
from services.simulator.core.controllers.deployment import deployment_controller
from services.simulator.core.controllers.endpoint_slices import endpoint_slice_controller
from services.simulator.core.controllers.ephemeral_claims import ephemeral_claim_controller
from services.simulator.core.controllers.event_expiry import EventExpiry
from services.simulator.core.controllers.garbage import Garbage
from services.simulator.core.controllers.job import job_controller
from services.simulator.core.controllers.node_lifecycle import NodeLifecycle
from services.simulator.core.controllers.pod_garbage import pod_garbage_controller
from services.simulator.core.controllers.protection import (
    claim_protection_controller,
    volume_protection_controller,
)
from services.simulator.core.controllers.quotas import QuotaController
from services.simulator.core.controllers.replica_set import (
    replica_set_controller,
    replication_controller,
)
from services.simulator.core.controllers.resource_claims import resource_claim_controller
from services.simulator.core.controllers.role_aggregation import role_aggregation_controller
from services.simulator.core.controllers.scaling.autoscaler import HorizontalAutoscaler
from services.simulator.core.controllers.stateful_set import stateful_set_controller
from services.simulator.core.controllers.taint_eviction import taint_eviction_controller
from services.simulator.core.controllers.volume_binder import volume_binder
from services.simulator.core.kubelet.fate import FateBook
from services.simulator.core.kubelet.kubelets import Kubelets
from services.simulator.core.kubelet.policy import KubeletPolicy
from services.simulator.core.part import Part
from services.simulator.core.scheduler.scheduler import Scheduler
from services.simulator.core.usage.meter import Meter, UsageBook


def all_parts(
    server: ApiServer,
    kubelets: KubeletPolicy,
    fates: FateBook | None = None,
    usage: UsageBook | None = None,
    authority: str = "",
) -> tuple[Part, ...]:
    """Return the parts of one cluster, and let its server serve the metrics API.

    Args:
        server: the cluster's API.
        kubelets: how long things take.
        fates: what befalls nodes.
        usage: what pods use.
        authority: certificate (PEM) that vouches for the API; empty for none.
    """
    api, client = server.direct, Client(server.direct)
    meter = Meter(client, usage or UsageBook())
    server.metrics = MetricsApi(server.store, meter)
    return (
        Kubelets(client, kubelets, fates or FateBook()),
        NodeLifecycle(client),
        taint_eviction_controller(client),
        pod_garbage_controller(client),
        deployment_controller(client),
        replica_set_controller(client),
        replication_controller(client),
        stateful_set_controller(client),
        daemon_set_controller(client),
        job_controller(client),
        cron_job_controller(client),
        HorizontalAutoscaler(client, server.store, meter),
        budget_controller(client),
        ephemeral_claim_controller(client),
        resource_claim_controller(client),
        claim_protection_controller(client),
        volume_protection_controller(client),
        endpoint_slice_controller(client),
        volume_binder(client),
        account_controller(client, authority),
        role_aggregation_controller(client),
        QuotaController(client, server.store.resources),
        attachment_controller(client),
        Scheduler(api),
        Garbage(server.store),
        client.events,
        EventExpiry(client),
    )
