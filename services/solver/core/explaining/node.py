"""A node, or a claim in flight: what it holds, whom it could take, what would be cheaper.

Apart from pods because it is asked as things are, before anything is packed.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from libs.domain import labels as label_keys
from libs.domain.blockers import Blockers, under_command, unmanaged
from libs.domain.explanation import Explanation, NodeExplanation, PodOnNode
from libs.domain.node import Node
from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.plan import Blocker, Decision, LaunchOption
from libs.domain.pod import PodRow
from libs.domain.price import offering_key, prices
from libs.domain.reason import Rejection, TargetKind
from libs.domain.resources import NOTHING, Resources, total
from libs.domain.snapshot import ClusterSnapshot, keyed
from services.solver.core.explaining.edits import with_rows
from services.solver.core.explaining.options import options_of, options_of_claim
from services.solver.core.explaining.trial import Desk
from services.solver.core.explaining.waiting import Unpacked, unpacked, verdicts
from services.solver.core.packing.encode import Encoded
from services.solver.core.reasons.case import Case
from services.solver.core.reasons.standing_reasons import bin_rejection, standing_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What is asked about: a node with its claim, or either of them alone."""

    node: Node | None
    claim: NodeClaim | None

    @property
    def labels(self) -> dict[str, str]:
        own = dict(self.claim.labels) if self.claim is not None else {}
        return label_keys.canonical_labels(
            own | (dict(self.node.labels) if self.node is not None else {})
        )

    @property
    def pool(self) -> str:
        if self.claim is not None:
            return self.claim.nodepool
        return self.labels.get(label_keys.NODEPOOL, "")


def explain_node(
    desk: Desk, snapshot: ClusterSnapshot, name: str, base: Explanation
) -> Explanation | None:
    """Return what there is to say about a node or a claim in flight; None if there is neither."""
    subject = _subject(snapshot, name)
    if subject is None:
        return None
    rows = tuple(
        row
        for row in snapshot.pods.rows()
        if subject.node is not None and row.node == subject.node.name and not row.terminal
    )
    now = desk.options.now or snapshot.observed_at
    encoded = desk.encode(snapshot)
    explained = _with_waiting(_node(snapshot, subject, rows), encoded, subject)
    explained = replace(explained, price_nanos_per_hour=_price(encoded, subject))
    pool = snapshot.nodepools.get(subject.pool)
    options = _cheaper(desk, snapshot, subject, rows, explained.price_nanos_per_hour)
    return replace(
        base,
        node=replace(explained, options_known=options is not None),
        options_by_price=options or (),
        decision=None if subject.node is None else _decision(snapshot, subject.node, rows, now),
        node_class=pool.template.node_class if pool is not None else None,
    )


def _subject(snapshot: ClusterSnapshot, name: str) -> _Subject | None:
    node = snapshot.nodes.get(name)
    if node is None:
        node = next((one for one in snapshot.nodes.values() if one.nodeclaim == name), None)
    claim = snapshot.nodeclaims.get(name if node is None else node.nodeclaim)
    return None if node is None and claim is None else _Subject(node=node, claim=claim)


# What it is and holds.


def _node(
    snapshot: ClusterSnapshot, subject: _Subject, rows: tuple[PodRow, ...]
) -> NodeExplanation:
    node, claim, labels = subject.node, subject.claim, subject.labels
    pods = [
        PodOnNode(
            uid=row.uid,
            namespace=row.namespace,
            name=row.name,
            requests=snapshot.shapes[row.shape].requests,
        )
        for row in rows
    ]
    used = total(one.requests for one in pods)
    allocatable = _allocatable(subject)
    return NodeExplanation(
        name=node.name if node is not None else "",
        nodeclaim=claim.name if claim is not None else "",
        nodepool=subject.pool,
        instance_type=labels.get(label_keys.INSTANCE_TYPE, ""),
        zone=labels.get(label_keys.ZONE, ""),
        capacity_type=labels.get(label_keys.CAPACITY_TYPE, ""),
        states=_states(subject),
        taints=node.taints if node is not None else (claim.taints if claim is not None else ()),
        allocatable=allocatable,
        used=used,
        daemons=NOTHING,
        free=allocatable.subtract(used),
        pods=tuple(sorted(pods, key=lambda one: (one.namespace, one.name))),
    )


def _allocatable(subject: _Subject) -> Resources:
    if subject.node is not None:
        return subject.node.allocatable
    if subject.claim is None:
        return NOTHING
    return subject.claim.allocatable or subject.claim.requests


def _states(subject: _Subject) -> tuple[str, ...]:
    node, claim = subject.node, subject.claim
    if node is None:
        launched = claim is not None and claim.is_true(ConditionType.LAUNCHED)
        found = {"launched, no node yet" if launched else "not launched yet"}
    else:
        states = {
            "not ready": not node.ready,
            "not registered": not node.registered,
            "not initialized": not node.initialized,
            "cordoned": node.unschedulable,
            "leaving": node.leaving,
        }
        found = {state for state, holds in states.items() if holds}
    if claim is not None and claim.deleting_at is not None:
        found.add("being deleted")
    return tuple(sorted(found))


def _price(encoded: Encoded, subject: _Subject) -> int | None:
    """Return what its offering costs now; None where the catalogue does not have it."""
    claim = subject.claim
    offers = encoded.market.by_pool.get(subject.pool)
    columns = offers.columns if offers is not None else None
    if claim is not None:
        columns = encoded.market.of_claim(claim)
    if columns is None:
        return None
    return prices(columns.source).get(offering_key(subject.labels))


# What keeps it.


def _decision(
    snapshot: ClusterSnapshot, node: Node, rows: tuple[PodRow, ...], now: datetime
) -> Decision:
    """Return what no decision to give the node up could change.

    Budgets and policies of pools depend on what else is being disrupted, and are left to
    `ListDecisions`.
    """
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    found: tuple[Blocker, ...] = (unmanaged(node),)
    command = ""
    if claim is not None:
        command = claim.command.id if claim.command is not None else ""
        kept = Blockers(snapshot, now).of(node, claim, rows)
        found = (under_command(command), *kept) if command else kept
    return Decision(
        node=node.name,
        nodeclaim=node.nodeclaim,
        candidate=not found,
        blockers=found,
        command_id=command,
    )


# Whom it could take.


def _with_waiting(
    explained: NodeExplanation, encoded: Encoded, subject: _Subject
) -> NodeExplanation:
    """Return the explanation with what is free after daemons, and what becomes of waiting pods."""
    kind = TargetKind.NODE if subject.node is not None else TargetKind.NODECLAIM
    name = explained.name or explained.nodeclaim
    state = unpacked(encoded)
    standing = encoded.standing
    position = next(
        (
            index
            for index, there in enumerate(zip(standing.kinds, standing.names, strict=True))
            if there == (kind, name)
        ),
        None,
    )
    if position is None:
        return explained
    found = verdicts(state, partial(_refuse, state, position))
    explained = replace(explained, could_take=found.could_take, refusals=found.refusals)
    dimensions = encoded.dimensions
    vector = dimensions.room(explained.free) - standing.free[position]
    daemons = dimensions.resources(vector.clip(0))
    return replace(explained, daemons=daemons, free=explained.free.subtract(daemons))


def _refuse(state: Unpacked, position: int, case: Case) -> Rejection | None:
    (rule,) = standing_rules(case, state.bins, position)
    return None if rule is None else bin_rejection(case, state.bins, position, rule)


# What would be cheaper.


def _cheaper(
    desk: Desk,
    snapshot: ClusterSnapshot,
    subject: _Subject,
    rows: tuple[PodRow, ...],
    price: int | None,
) -> tuple[LaunchOption, ...] | None:
    """Return on which offerings its pods would fit for less; None if that cannot be told.

    The solver is asked: the pods wait, nobody else does, nothing that exists takes them, and the
    node is gone. If they do not come onto one new node of the same pool, nothing is cheaper.
    """
    node, pool = subject.node, snapshot.nodepools.get(subject.pool)
    moving = [row for row in rows if row.reschedulable]
    if node is None or pool is None or pool.template.node_class.key not in snapshot.catalogues:
        return None
    if not moving:
        return ()
    decision = desk.decide(_as_if_gone(snapshot, node, moving))
    claims = decision.plan.nodeclaims
    if len(claims) != 1 or decision.plan.unplaced or claims[0].nodepool != pool.name:
        return ()
    offers = decision.encoded.market.by_pool[pool.name]
    options = options_of(offers.columns, options_of_claim(offers.columns, claims[0]))
    return tuple(one for one in options if price is None or one.price_nanos_per_hour < price)


def _as_if_gone(snapshot: ClusterSnapshot, node: Node, moving: list[PodRow]) -> ClusterSnapshot:
    uids = {row.uid for row in moving}
    rows = [
        row._replace(node="", provisionable=True, target=None, gang="")
        if row.uid in uids
        else row._replace(provisionable=False)
        for row in snapshot.pods.rows()
        if row.uid in uids or row.node != node.name
    ]
    others = [
        replace(one, unschedulable=True) for one in snapshot.nodes.values() if one.name != node.name
    ]
    claims = [
        one
        for one in snapshot.nodeclaims.values()
        if one.name != node.nodeclaim and any(there.nodeclaim == one.name for there in others)
    ]
    gone = replace(
        snapshot,
        nodes=keyed("nodes", others),
        nodeclaims=keyed("nodeclaims", claims),
        buffers=keyed("buffers", ()),
    )
    return with_rows(gone, rows)
