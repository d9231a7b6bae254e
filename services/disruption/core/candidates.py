"""Which nodes may be disrupted at all, and what keeps the others.

Source: `docs/sources.md` H2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from libs.domain import plan
from libs.domain.blockers import Blockers, under_command, unmanaged
from libs.domain.eviction_cost import rescheduling_cost
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import Blocker
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from services.disruption.core import costs
from services.disruption.core.prices import Prices
from services.disruption.core.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A node that nothing disqualifies, with what methods judge it by."""

    node: Node
    claim: NodeClaim
    pool: NodePool
    reschedulable: tuple[PodRow, ...]
    """Pods that would need another place, in order of uid."""
    buffer_pods: int
    """Virtual pods of capacity buffers that the node keeps room for."""
    price_nanos_per_hour: int
    """0 where it is not known."""
    lifetime_remaining: float

    @property
    def rescheduling_cost(self) -> int:
        """What disrupting the node costs its pods, in units of `libs.domain.eviction_cost`."""
        return rescheduling_cost(self.reschedulable)

    def premise(self) -> plan.Candidate:
        """Return the candidate as a command names it."""
        return plan.Candidate(
            nodeclaim=self.claim.name,
            nodeclaim_uid=self.claim.uid,
            node=self.node.name,
            nodepool=self.pool.name,
            pod_uids=tuple(row.uid for row in self.reschedulable),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What was found out about one node: it is a candidate, or something blocks it."""

    node: Node
    candidate: Candidate | None
    blockers: tuple[Blocker, ...] = ()
    command_id: str = ""
    """Command that it is under already."""


def assess(question: Question) -> tuple[Assessment, ...]:
    """Return what is to be said of each node of the snapshot, in order of name."""
    pods = _by_node(question.snapshot)
    assessor = _Assessor(question)
    return tuple(
        assessor.assess(node, pods.get(node.name, ())) for node in question.snapshot.nodes.values()
    )


def _by_node(snapshot: ClusterSnapshot) -> Mapping[str, tuple[PodRow, ...]]:
    """Return the pods that are bound, by node, in order of uid; nodes without any are not there."""
    found: dict[str, list[PodRow]] = {}
    for row in snapshot.pods.rows():
        if row.node:
            found.setdefault(row.node, []).append(row)
    return {node: tuple(rows) for node, rows in found.items()}


class _Assessor:
    def __init__(self, question: Question) -> None:
        self._question = question
        self._snapshot = question.snapshot
        self._prices = Prices.of(question.snapshot)
        self._blockers = Blockers(question.snapshot, question.now)
        self._buffers = frozenset(buffer.uid for buffer in question.snapshot.buffers.values())

    def assess(self, node: Node, rows: tuple[PodRow, ...]) -> Assessment:
        claim = self._snapshot.nodeclaims.get(node.nodeclaim)
        if claim is None:
            return Assessment(node=node, candidate=None, blockers=(unmanaged(node),))
        command_id = self._question.command_of(claim)
        if command_id:
            return Assessment(
                node=node,
                candidate=None,
                blockers=(under_command(command_id),),
                command_id=command_id,
            )
        pool = self._snapshot.nodepools.get(claim.nodepool)
        blockers = self._blockers.of(node, claim, rows)
        if blockers or pool is None:
            return Assessment(node=node, candidate=None, blockers=blockers)
        return Assessment(node=node, candidate=self._candidate(node, claim, pool, rows))

    def _candidate(
        self, node: Node, claim: NodeClaim, pool: NodePool, rows: tuple[PodRow, ...]
    ) -> Candidate:
        real = tuple(row for row in rows if row.uid.rpartition("-")[0] not in self._buffers)
        return Candidate(
            node=node,
            claim=claim,
            pool=pool,
            reschedulable=tuple(row for row in real if row.reschedulable),
            buffer_pods=len(rows) - len(real),
            price_nanos_per_hour=self._prices.of_node(node, claim.node_class),
            lifetime_remaining=costs.lifetime_remaining(claim, self._question.now),
        )
