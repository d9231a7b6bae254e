"""The controllers that kube-controller-manager runs, in the order in which they are stepped.

Apart from the other programs because recorded sequences are played with these alone. Node states
come first, so that within one round all others see them.
"""

from services.simulator.core.api.resources import Catalogue
from services.simulator.core.client import Client
from services.simulator.core.controllers.accounts import account_controller
from services.simulator.core.controllers.attachments import attachment_controller
from services.simulator.core.controllers.budget import budget_controller
from services.simulator.core.controllers.cron_job import cron_job_controller
from services.simulator.core.controllers.daemon_set import daemon_set_controller
from services.simulator.core.controllers.deployment import deployment_controller
from services.simulator.core.controllers.endpoint_slices import endpoint_slice_controller
from services.simulator.core.controllers.ephemeral_claims import ephemeral_claim_controller
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
from services.simulator.core.controllers.stateful_set import stateful_set_controller
from services.simulator.core.controllers.taint_eviction import taint_eviction_controller
from services.simulator.core.controllers.volume_binder import volume_binder
from services.simulator.core.part import Part


def controller_manager(
    client: Client, resources: Catalogue, authority: str = ""
) -> tuple[Part, ...]:
    """Return the controllers of a cluster, but for those that need what pods use.

    Args:
        client: what they share.
        resources: what is served, of which quotas count.
        authority: certificate (PEM) that vouches for the API; empty for none.
    """
    return (
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
        budget_controller(client),
        ephemeral_claim_controller(client),
        resource_claim_controller(client),
        claim_protection_controller(client),
        volume_protection_controller(client),
        endpoint_slice_controller(client),
        volume_binder(client),
        account_controller(client, authority),
        role_aggregation_controller(client),
        QuotaController(client, resources),
        attachment_controller(client),
    )
