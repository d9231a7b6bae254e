"""Which nodes may take pods that move: those that run and are settled.

Source: `docs/sources.md` D5.2 (consolidation only), H8: nodes that are not initialized take nobody,
and no pod goes to a node whose pool would rather wait for it to come to rest.
"""

from datetime import datetime, timedelta

from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.reason import TargetKind
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.standing.standing import Standing


def closed(standing: Standing, snapshot: ClusterSnapshot, now: datetime) -> frozenset[str]:
    """Return the names of the standing bins that take no pods that move."""
    return frozenset(
        name
        for name, kind in zip(standing.names, standing.kinds, strict=True)
        if kind is not TargetKind.NODE or not _takes(name, snapshot, now)
    )


def _takes(name: str, snapshot: ClusterSnapshot, now: datetime) -> bool:
    node = snapshot.nodes[name]
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    return node.initialized and (claim is None or not _restless(claim, snapshot, now))


def _restless(claim: NodeClaim, snapshot: ClusterSnapshot, now: datetime) -> bool:
    """Tell whether pods came or went so lately that the pool's `consolidateAfter` is not over."""
    pool = snapshot.nodepools.get(claim.nodepool)
    wait = None if pool is None or pool.replicas is not None else pool.disruption.consolidate_after
    if wait is None or wait <= timedelta(0):
        return False
    started = claim.condition(ConditionType.INITIALIZED)
    last = claim.last_pod_event_at or (started.transitioned_at if started is not None else None)
    return last is not None and now - last < wait
