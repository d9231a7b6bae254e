"""Everything that runs on top of the API server, in the order in which it is stepped.

Node states come first and the scheduler last, so that within one round it sees what all others did.
"""

from services.simulator.core.api.metrics_api import MetricsApi
from services.simulator.core.api.server import ApiServer
from services.simulator.core.client import Client
from services.simulator.core.controllers.event_expiry import EventExpiry
from services.simulator.core.controllers.garbage import Garbage
from services.simulator.core.controllers.manager import controller_manager
from services.simulator.core.controllers.scaling.autoscaler import HorizontalAutoscaler
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
        *controller_manager(client, server.store.resources, authority),
        HorizontalAutoscaler(client, server.store, meter),
        Scheduler(api),
        Garbage(server.store),
        client.events,
        EventExpiry(client),
    )
