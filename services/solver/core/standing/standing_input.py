"""What standing capacity, nodes and claims in flight, is counted from."""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.offers.claimed_devices import ClaimedDevices
from services.solver.core.offers.market import Market
from services.solver.core.offers.template import Template
from services.solver.core.pods.ask import Ask
from services.solver.core.pods.workload import Workload
from services.solver.core.reading.claim_columns import ClaimColumns
from services.solver.core.reading.node_columns import NodeColumns
from services.solver.core.vectors import Dimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingInput:
    """What standing capacity is made of."""

    snapshot: ClusterSnapshot
    workload: Workload
    dimensions: Dimensions
    daemons: Mapping[str, Ask]
    devices: ClaimedDevices
    """Where daemons find what they claim."""
    keys: frozenset[str]
    """Label keys that any pod asks for."""
    known: frozenset[str]
    """Those and the ones that daemons ask for."""
    templates: Mapping[str, Template]
    """By name of the pool."""
    market: Market
    """What claims in flight may become."""
    nodes: NodeColumns
    claims: ClaimColumns
