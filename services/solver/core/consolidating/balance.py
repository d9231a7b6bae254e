"""Pools that are balanced: their nodes are given up only if that saves as much as it disturbs.

Of a pool's cost a command saves a share, and of all that could be disturbed in it a share is. It is
approved where the first is at least half of the second, in every balanced pool that it touches.

Source: `docs/sources.md` H14. Shares are of the snapshot, not of what earlier commands leave.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from libs.domain.eviction_cost import rescheduling_cost
from libs.domain.nodepool import ConsolidationPolicy
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.consolidating.node_prices import NodePrices

_PATIENCE = 2
"""How many times the share that is disturbed may exceed the share that is saved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What balanced pools cost, and what could be disturbed in them."""

    cost: Mapping[str, int] = field(default_factory=dict)
    """Nano-dollars per hour by pool."""
    disturbance: Mapping[str, int] = field(default_factory=dict)
    """By pool, in the units of `libs.domain.eviction_cost`."""
    of_node: Mapping[str, int] = field(default_factory=dict)
    """The same by node."""

    def approves(self, leavers: Sequence[Leaver], saving: int) -> bool:
        """Tell whether every balanced pool approves of giving up these nodes to save so much."""
        paid: dict[str, int] = defaultdict(int)
        disturbed: dict[str, int] = defaultdict(int)
        for one in leavers:
            paid[one.candidate.nodepool] += one.price
            disturbed[one.candidate.nodepool] += self.of_node.get(one.node, 0)
        total = sum(paid.values())
        return all(
            self._is_worth(pool, saving * paid[pool] // total if total else 0, disturbed[pool])
            for pool in paid
            if pool in self.cost
        )

    def _is_worth(self, pool: str, saving: int, disturbed: int) -> bool:
        cost, most = self.cost[pool], self.disturbance[pool]
        # Both shares multiplied by both wholes: integers leave no doubt at the edge.
        return saving > 0 and cost > 0 and _PATIENCE * saving * most >= disturbed * cost


def balance(snapshot: ClusterSnapshot, prices: NodePrices) -> Balance:
    """Return the balance of the pools with that policy; others approve of everything."""
    balanced = {
        pool.name
        for pool in snapshot.nodepools.values()
        if pool.disruption.consolidation_policy is ConsolidationPolicy.BALANCED
    }
    if not balanced:
        return Balance()
    pool_of = {
        claim.node_name: claim.nodepool
        for claim in snapshot.nodeclaims.values()
        if claim.nodepool in balanced and claim.node_name in snapshot.nodes
    }
    rows: dict[str, list[PodRow]] = defaultdict(list)
    for row in snapshot.pods.bound_to(frozenset(pool_of)):
        if row.reschedulable:
            rows[row.node].append(row)
    of_node = {node: rescheduling_cost(rows[node]) for node in sorted(pool_of)}
    cost: dict[str, int] = dict.fromkeys(sorted(balanced), 0)
    disturbance = dict(cost)
    for node, disturbed in of_node.items():
        cost[pool_of[node]] += prices.of(snapshot.nodes[node])[1]
        disturbance[pool_of[node]] += disturbed
    return Balance(cost=cost, disturbance=disturbance, of_node=of_node)
