"""What pools may still buy: limits less what is there and what this plan buys.

Source: `docs/sources.md` D2.3, D6.2-3. A new claim is charged with the largest capacity that it may
still become, since the provider chooses the type. Differences on purpose: where that would leave
pods out, claims are tied to smaller types and charged anew; `nodes` is counted down within the plan
too, since lifecycle would refuse the surplus.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.resources import NODES, NOTHING, Resources
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.template import Template
from services.solver.core.vectors import MOST, Bools, Ints, covering


class PoolLimits:
    """Room left under the limits of one pool, counted down as claims are opened."""

    __slots__ = ("_at_start", "_charged", "_left", "_nodes", "template")

    def __init__(self, template: Template, usage: Resources, nodes: int) -> None:
        limits = template.pool.limits
        self.template = template
        self._left = np.array(
            [min(limits.get(name), MOST) - min(usage.get(name), MOST) for name in template.limited],
            np.int64,
        )
        self._nodes = limits.get(NODES) - nodes if NODES in limits else None
        self._at_start = self.rows()
        self._charged: dict[int, Ints] = {}
        """What each claim is charged with, (n_limits,)."""

    @property
    def limited(self) -> bool:
        """Return whether there is any limit."""
        return self._nodes is not None or bool(self.template.limited)

    @property
    def nodes_left(self) -> bool:
        """Return whether one more node is allowed."""
        return self._nodes is None or self._nodes > 0

    def left(self) -> Resources:
        """Return what is left of each limited resource, `nodes` included."""
        amounts = dict(zip(self.template.limited, self._left.tolist(), strict=True))
        if self._nodes is not None:
            amounts[NODES] = self._nodes
        return Resources(amounts)

    def rows(self) -> Bools | None:
        """Return (n_rows,): the rows that may still be bought; None if all may."""
        if not self.template.limited:
            return None
        return covering(self._left, self.template.capacities)

    def used_up(self, fits: Bools) -> bool:
        """Return whether amounts charged to this plan's own claims keep these rows out.

        Args:
            fits: (n_rows,): the rows that a pod could use.
        """
        rows = self.rows()
        if rows is None or self._at_start is None or not self.nodes_left:
            return False
        return bool((fits & self._at_start).any()) and not (fits & rows).any()

    def charge(self, claims: Iterable[int], rows: Bools) -> None:
        """Count claims, each of which may become any of these rows; anew if they were counted."""
        if not self.limited:
            return
        most = self.template.capacities[rows].max(axis=0)
        for claim in claims:
            if claim not in self._charged and self._nodes is not None:
                self._nodes -= 1
            self._left += self._charged.get(claim, 0) - most
            self._charged[claim] = most

    @property
    def claims(self) -> tuple[int, ...]:
        """Return the claims that are counted."""
        return tuple(self._charged)


def pool_limits(template: Template, snapshot: ClusterSnapshot) -> PoolLimits:
    """Return the limits of a pool after the nodes and claims that it has; leaving ones are free."""
    if not template.pool.limits:
        return PoolLimits(template, NOTHING, 0)
    name, claims = template.pool.name, snapshot.nodeclaims
    nodes = [node for node in snapshot.nodes.values() if _pool_of(node, claims) == name]
    with_node = {node.nodeclaim for node in nodes}
    used = [node.capacity for node in nodes if not node.leaving]
    used += [
        _largest(claim, template)
        for claim in claims.values()
        if claim.nodepool == name and claim.deleting_at is None and claim.name not in with_node
    ]
    taken = {limited: sum(one.get(limited) for one in used) for limited in template.limited}
    return PoolLimits(template, Resources(taken), len(used))


def _pool_of(node: Node, claims: Mapping[str, NodeClaim]) -> str:
    """Return the pool of a node: that of its claim, or as its label says if it has none."""
    claim = claims.get(node.nodeclaim)
    return dict(node.labels).get(label_keys.NODEPOOL, "") if claim is None else claim.nodepool


def _largest(claim: NodeClaim, template: Template) -> Resources:
    """Return a claim's capacity: its own if it is launched, else the largest that it may get."""
    if len(claim.capacity):
        return claim.capacity
    most: Mapping[str, int] = {}
    columns = template.columns
    for row, kind in enumerate(columns.row_type.tolist()):
        if claim.requirements.has_intersection(columns.types[kind].requirements):
            there = columns.capacities[row]
            most = {name: max(most.get(name, 0), there.get(name)) for name in template.limited}
    return Resources(most)
