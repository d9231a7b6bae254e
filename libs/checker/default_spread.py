"""The cluster's default spread constraints as the oracle reads them.

Apart because a plan does not record them: who judges it has to say them again.
"""

from collections.abc import Iterable
from typing import Any

from libs.domain.topology import TopologySpread


def constraint_documents(spreads: Iterable[TopologySpread]) -> list[dict[str, Any]]:
    """Return constraints without selectors as Kubernetes writes them, for `Cluster`."""
    return [_document(one) for one in spreads]


def _document(spread: TopologySpread) -> dict[str, Any]:
    found: dict[str, Any] = {
        "topologyKey": spread.topology_key,
        "maxSkew": spread.max_skew,
        "whenUnsatisfiable": "DoNotSchedule" if spread.required else "ScheduleAnyway",
        "nodeAffinityPolicy": str(spread.node_affinity_policy),
        "nodeTaintsPolicy": str(spread.node_taints_policy),
    }
    if spread.min_domains is not None:
        found["minDomains"] = spread.min_domains
    return found
