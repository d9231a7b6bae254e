"""Which nodes may be disrupted at all, and what keeps the others.

Every disqualification is looked for, not only the first, so that a report names all that has to
change.

Source: `docs/sources.md` H2. Its items 10 and 11 (pods) are apart from the rest because methods
that bring a deadline of their own pass over them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from libs.domain import do_not_disrupt, plan
from libs.domain.blocking import BlockerKind
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.nodepool import NodePool
from libs.domain.plan import Blocker
from libs.domain.pod import PodRow
from services.disruption.core import costs
from services.disruption.core.blocking import blocker, under_command, unmanaged
from services.disruption.core.pod_budgets import PodBudgets
from services.disruption.core.pods import by_node, is_disruptable, qualified_name
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
        """What disrupting the node costs its pods, in units of `costs`."""
        return costs.rescheduling_cost(self.reschedulable)

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
    pods = by_node(question.snapshot)
    assessor = _Assessor(question)
    return tuple(
        assessor.assess(node, pods.get(node.name, ())) for node in question.snapshot.nodes.values()
    )


class _Assessor:
    def __init__(self, question: Question) -> None:
        self._question = question
        self._snapshot = question.snapshot
        self._prices = Prices.of(question.snapshot)
        self._pod_budgets = PodBudgets(question)
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
        blockers = (
            *_node_blockers(node, claim, self._question.now),
            *self._pool_blockers(claim, pool),
            *_protected_pods(rows, self._question.now_ms),
            *self._pod_budgets.blockers(rows),
        )
        if blockers or pool is None:
            return Assessment(node=node, candidate=None, blockers=blockers)
        return Assessment(node=node, candidate=self._candidate(node, claim, pool, rows))

    def _pool_blockers(self, claim: NodeClaim, pool: NodePool | None) -> Iterable[Blocker]:
        if not claim.nodepool:
            yield blocker(
                BlockerKind.STANDALONE, f'nodeclaim "{claim.name}" belongs to no nodepool'
            )
        elif pool is None:
            message = f'nodepool "{claim.nodepool}" does not exist'
            yield blocker(BlockerKind.NODEPOOL_NOT_FOUND, message, claim.nodepool)
        else:
            key = pool.template.node_class.key
            catalogue = self._snapshot.catalogues.get(key)
            if catalogue is None or not catalogue.instance_types:
                message = f'no instance types are known for nodepool "{pool.name}" ({key})'
                yield blocker(BlockerKind.CATALOGUE_NOT_FOUND, message, pool.name)

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


def _node_blockers(node: Node, claim: NodeClaim, now: datetime) -> Iterable[Blocker]:
    if not node.initialized:
        yield blocker(BlockerKind.NOT_INITIALIZED, f'node "{node.name}" is not initialized')
    if node.leaving or claim.deleting_at is not None:
        yield blocker(BlockerKind.LEAVING, f'node "{node.name}" is leaving')
    if any(until is not None and until > now for until in _nominations(node, claim)):
        yield blocker(BlockerKind.NOMINATED, f'pods are expected on node "{node.name}"')
    if node.do_not_disrupt:
        message = f'node "{node.name}" or its nodeclaim says {do_not_disrupt.ANNOTATION}'
        yield blocker(BlockerKind.DO_NOT_DISRUPT, message)


def _nominations(node: Node, claim: NodeClaim) -> tuple[datetime | None, datetime | None]:
    return node.nominated_until, claim.nominated_until


def _protected_pods(rows: Iterable[PodRow], now_ms: int) -> Iterable[Blocker]:
    for row in rows:
        if not is_disruptable(row, now_ms):
            name = qualified_name(row)
            message = f'pod "{name}" may not be disrupted{_until(row)}'
            yield blocker(BlockerKind.DO_NOT_DISRUPT, message, name)


def _until(row: PodRow) -> str:
    if row.do_not_disrupt_ms == do_not_disrupt.FOR_EVER:
        return ""
    end = do_not_disrupt.protected_until_ms(row.do_not_disrupt_ms, started_ms=row.started_ms)
    if end is None:
        return " before it has started and some time has passed"
    # rounded up to whole seconds, for people
    instant = datetime.fromtimestamp(-(-end // 1000), UTC)
    return f" until {instant:%Y-%m-%dT%H:%M:%SZ}"
