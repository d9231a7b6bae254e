"""What pools may still buy: limits less what is there and what this plan buys.

Source: `docs/sources.md` D2.3, D6.2-3. A new claim is charged with the largest capacity that it may
still become, since the provider chooses the type. Differences on purpose: where that would leave
pods out, claims are tied to smaller types and charged anew; `nodes` is counted down within the plan
too, since lifecycle would refuse the surplus.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import joiner_kernel

from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.resources import NODES, Resources
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.offers.template import Template
from services.solver.core.vectors import MOST, Bools, Ints, covering


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a pool may still buy before anything is planned."""

    left: tuple[int, ...]
    """(n_limits,): in the order of the template's limited resources."""
    nodes: int | None
    """None where nodes are not limited."""


class PoolLimits:
    """What is left under the limits of one pool; the kernel counts it down."""

    __slots__ = ("_at_start", "_packing", "_roof", "template", "tied")

    def __init__(self, template: Template, packing: joiner_kernel.Packing) -> None:
        self.template = template
        self._packing = packing
        self._at_start = self.rows()
        self._roof = _roof(template.room, self._at_start)
        self.tied: dict[int, tuple[int, int]] = {}
        """The class and the pods of claims when they were tied; as such there is nothing to tie."""

    @property
    def nodes_left(self) -> bool:
        """Return whether one more node is allowed."""
        nodes = self._packing.nodes_left(self.template.index)
        return nodes is None or nodes > 0

    def left(self) -> Resources:
        """Return what is left of each limited resource, `nodes` included."""
        left = self._packing.limits_left(self.template.index)
        amounts = dict(zip(self.template.limited, left, strict=True))
        nodes = self._packing.nodes_left(self.template.index)
        if nodes is not None:
            amounts[NODES] = nodes
        return Resources(amounts)

    def rows(self) -> Bools | None:
        """Return (n_rows,): the rows that may still be bought; None if all may."""
        return self._packing.rows_left(self.template.index)

    def may_hold(self, requests: Ints) -> Bools:
        """Return (n,): which requests, (n, n_resources), a node may have had room for at first.

        Asked before it is found out for each of them, who may be as many as there are pools.
        """
        return covering(self._roof, requests)

    def used_up(self, fits: Bools) -> bool:
        """Return whether amounts charged to this plan's own claims keep these rows out.

        Args:
            fits: (n_rows,): the rows that a pod could use.
        """
        rows = self.rows()
        if rows is None or self._at_start is None or not self.nodes_left:
            return False
        return bool((fits & self._at_start).any()) and not (fits & rows).any()

    @property
    def claims(self) -> Sequence[int]:
        """Return the claims that are counted."""
        return self._packing.charged(self.template.index)


def _roof(room: Ints, rows: Bools | None) -> Ints:
    """Return (n_resources,): what no row of a pool has more of; less than nothing without rows."""
    found: Ints = (room if rows is None else room[rows]).max(axis=0, initial=-1)
    return found


def allowance(template: Template, snapshot: ClusterSnapshot) -> Allowance:
    """Return what a pool may buy beside the nodes and claims that it has and keeps."""
    if not template.pool.limits:
        return Allowance(left=(), nodes=None)
    name, claims = template.pool.name, snapshot.nodeclaims
    nodes = [node for node in snapshot.nodes.values() if _pool_of(node, claims) == name]
    with_node = {node.nodeclaim for node in nodes}
    used = [node.capacity for node in nodes if not node.leaving]
    used += [
        _largest(claim, template)
        for claim in claims.values()
        if claim.nodepool == name and claim.deleting_at is None and claim.name not in with_node
    ]
    limits = template.pool.limits
    taken = {name: sum(one.get(name) for one in used) for name in template.limited}
    return Allowance(
        left=tuple(min(limits.get(name), MOST) - min(taken[name], MOST) for name in taken),
        nodes=limits.get(NODES) - len(used) if NODES in limits else None,
    )


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
