"""Leavers: candidates with the pods that would need another place, and candidates that stay.

Apart because who may leave is read off the snapshot alone. That a pod may be evicted is the
caller's promise; here it is looked at again, since nothing good comes of a promise that is wrong.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.blockers import Blockers, blocker, under_command, unmanaged
from libs.domain.blocking import BlockerKind
from libs.domain.node import Node
from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Blocker, Candidate, Decision
from libs.domain.pod import PodRow, PodShape
from libs.domain.price import OfferingKey
from libs.domain.resources import NODES, named_amount
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.consolidating.node_prices import NodePrices
from services.solver.core.exclusion import conflict, exclusives
from services.solver.core.packing.encode import Encoded
from services.solver.core.pods.grouping import Group
from services.solver.core.vectors import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenants:
    """A candidate, and the pods on its node that would need another place, in order of uid."""

    candidate: Candidate
    rows: tuple[PodRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaver:
    """A node that may be given up."""

    candidate: Candidate
    groups: tuple[Group, ...]
    """Its pods by shape; room kept for buffers, too, which are no moves."""
    load: Ints
    """(n_resources,): what they request."""
    price: int
    """Nano-dollars per hour; 0 where it is not known."""
    offering: OfferingKey
    """What the node is an instance of."""
    single: frozenset[int] = frozenset()
    """Ids of its pods' shapes of which no node has two."""
    zone: str = ""
    """Its zone, if other pods may have a say in whether its pods leave it."""

    @property
    def node(self) -> str:
        """Return the name of the node."""
        return self.candidate.node

    @property
    def reason(self) -> DisruptionReason:
        """Return why it would be given up."""
        return DisruptionReason.UNDERUTILIZED if self.groups else DisruptionReason.EMPTY

    @property
    def claims_devices(self) -> bool:
        """Return whether any of its pods claims devices."""
        return any(group.shape.device_claims for group in self.groups)

    @property
    def moves(self) -> int:
        """Return how many pods have to move."""
        return len(self.candidate.pod_uids)


def tenants(
    snapshot: ClusterSnapshot, candidates: Iterable[Candidate], now: datetime
) -> tuple[tuple[Tenants, ...], tuple[Decision, ...]]:
    """Return the candidates that may leave, in order of node, and those that may not."""
    asked = {one.node: one for one in candidates}
    rows: dict[str, list[PodRow]] = defaultdict(list)
    for row in snapshot.pods.bound_to(frozenset(asked)):
        rows[row.node].append(row)
    blockers = Blockers(snapshot, now)
    found, staying = [], []
    for name, candidate in sorted(asked.items()):
        pods = rows[name]
        against = _against(snapshot, candidate, pods, blockers)
        if against:
            staying.append(left_alone(candidate, *against))
            continue
        found.append(_tenants(snapshot.nodes[name], snapshot, pods))
    return tuple(found), tuple(staying)


def left_alone(candidate: Candidate, *blockers: Blocker) -> Decision:
    """Return the decision that a candidate stays."""
    return Decision(node=candidate.node, nodeclaim=candidate.nodeclaim, blockers=blockers)


def leavers(
    known: Iterable[Tenants],
    encoded: Encoded,
    kept: Mapping[str, tuple[Group, ...]],
    priced: NodePrices,
) -> tuple[Leaver, ...]:
    """Return the leavers of a cluster.

    Args:
        known: who may leave.
        encoded: the cluster.
        kept: by node, virtual pods for which it keeps room.
        priced: what its nodes cost.
    """
    return tuple(_leaver(one, encoded, kept.get(one.candidate.node, ()), priced) for one in known)


def _against(
    snapshot: ClusterSnapshot, candidate: Candidate, rows: list[PodRow], blockers: Blockers
) -> tuple[Blocker, ...]:
    node = snapshot.nodes.get(candidate.node)
    if node is None:
        return (blocker(BlockerKind.GONE, f'there is no node "{candidate.node}"'),)
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    if claim is None:
        return (unmanaged(node),)
    if claim.uid != candidate.nodeclaim_uid:
        message = f'node "{node.name}" is of another nodeclaim than "{candidate.nodeclaim}"'
        return (blocker(BlockerKind.GONE, message),)
    if claim.command is not None:
        return (under_command(claim.command.id),)
    pool = snapshot.nodepools.get(claim.nodepool)
    if pool is not None and pool.replicas is not None:
        message = f'nodepool "{pool.name}" keeps {named_amount(NODES, pool.replicas)}'
        return (blocker(BlockerKind.STATIC, message),)
    return blockers.of(node, claim, rows)


def _tenants(node: Node, snapshot: ClusterSnapshot, rows: Iterable[PodRow]) -> Tenants:
    claim = snapshot.nodeclaims[node.nodeclaim]
    moving = tuple(row for row in rows if row.reschedulable)
    candidate = Candidate(
        nodeclaim=claim.name,
        nodeclaim_uid=claim.uid,
        node=node.name,
        nodepool=claim.nodepool,
        pod_uids=tuple(row.uid for row in moving),
    )
    return Tenants(candidate=candidate, rows=moving)


def _leaver(
    known: Tenants, encoded: Encoded, kept: tuple[Group, ...], priced: NodePrices
) -> Leaver:
    by_shape: dict[int, list[PodRow]] = defaultdict(list)
    for row in known.rows:
        by_shape[row.shape].append(row)
    moving = (_group(encoded.snapshot.shapes[one], rows) for one, rows in sorted(by_shape.items()))
    groups = (*moving, *kept)
    load = np.zeros(len(encoded.dimensions.names), np.int64)
    for group in groups:
        load += len(group.uids) * encoded.dimensions.requests(group.shape.requests)
    offering, price = priced.of(encoded.snapshot.nodes[known.candidate.node])
    return Leaver(
        candidate=known.candidate,
        groups=groups,
        load=load,
        price=price,
        offering=offering,
        single=frozenset(group.shape.id for group in groups if _is_single(group.shape)),
        zone=offering[1] if any(_is_topological(group.shape) for group in groups) else "",
    )


def _is_topological(shape: PodShape) -> bool:
    """Tell whether other pods decide in which zone one is."""
    keys = {one.topology_key for one in shape.topology_spread}
    keys.update(one.topology_key for one in (*shape.affinity, *shape.anti_affinity))
    return any(label_keys.canonical_key(key) != label_keys.HOSTNAME for key in keys)


def _is_single(shape: PodShape) -> bool:
    """Tell whether a node can have one such pod only; in doubt it can have more."""
    labels, own = dict(shape.labels), exclusives(shape)
    return conflict(own, own) or any(
        label_keys.canonical_key(term.topology_key) == label_keys.HOSTNAME
        and term.selector is not None
        and term.selector.matches(labels)
        # Whom a selector of namespaces is about is not known here.
        and shape.namespace in term.namespaces
        for term in shape.anti_affinity
    )


def _group(shape: PodShape, rows: Sequence[PodRow]) -> Group:
    return Group(
        shape=shape,
        uids=tuple(row.uid for row in rows),
        # A gang has its places already: of those that move none may lose its own.
        gangs=("",) * len(rows),
        targets=(None,) * len(rows),
        priorities=tuple(row.priority for row in rows),
        virtual=False,
        existing_only=False,
    )
