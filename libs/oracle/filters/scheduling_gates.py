"""Plugin SchedulingGates: a pod with gates is not looked at."""

from libs.oracle.cluster import Cluster
from libs.oracle.filters.plugin import PodRefused
from libs.oracle.pods import Pod

GATED = "Scheduling is blocked due to non-empty scheduling gates"


def prepare(_cluster: Cluster, pod: Pod) -> PodRefused | None:
    """Refuse a pod that has any scheduling gate."""
    return PodRefused(GATED) if pod.spec.get("schedulingGates") else None
