"""What keeps a node from being disrupted, whatever the reason to disrupt it.

Apart because disruption decides by it and an explanation tells it: they have to agree. What only
some ways of disrupting look at (policies and budgets of pools) is disruption's own.

Laws:
    - Every blocker is looked for, not only the first: a report names all that has to change.
    - A message holds no countdown and no end of a window that moves, since each change of it is
      published.

Source: `docs/sources.md` H2.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from libs.domain import do_not_disrupt
from libs.domain.blocking import BlockerKind
from libs.domain.eviction import PodBudgets, is_disruptable, is_evictable
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.plan import Blocker
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.workload import PodDisruptionBudget


class Blockers:
    """What keeps the nodes of one snapshot at one instant."""

    def __init__(self, snapshot: ClusterSnapshot, now: datetime) -> None:
        self._snapshot = snapshot
        self._now = now
        self._now_ms = int(now.timestamp() * 1000)
        self._pod_budgets = PodBudgets(snapshot)

    def of(self, node: Node, claim: NodeClaim, rows: Iterable[PodRow]) -> tuple[Blocker, ...]:
        """Return what keeps a node; a command that it is under is not looked at.

        Args:
            node: the node.
            claim: its claim.
            rows: the pods that are bound to it.
        """
        pods = tuple(rows)
        return (
            *_of_node(node, claim, self._now),
            *self._of_pool(claim),
            *self._of_protected(pods),
            *self._of_pod_budgets(pods),
        )

    def _of_pool(self, claim: NodeClaim) -> Iterator[Blocker]:
        pool = self._snapshot.nodepools.get(claim.nodepool)
        if not claim.nodepool:
            message = f'nodeclaim "{claim.name}" belongs to no nodepool'
            yield blocker(BlockerKind.STANDALONE, message)
        elif pool is None:
            message = f'nodepool "{claim.nodepool}" does not exist'
            yield blocker(BlockerKind.NODEPOOL_NOT_FOUND, message, claim.nodepool)
        else:
            key = pool.template.node_class.key
            catalogue = self._snapshot.catalogues.get(key)
            if catalogue is None or not catalogue.instance_types:
                message = f'no instance types are known for nodepool "{pool.name}" ({key})'
                yield blocker(BlockerKind.CATALOGUE_NOT_FOUND, message, pool.name)

    def _of_protected(self, rows: Iterable[PodRow]) -> Iterator[Blocker]:
        for row in rows:
            if not is_disruptable(row, self._now_ms):
                message = f'pod "{row.key}" may not be disrupted{_until(row)}'
                yield blocker(BlockerKind.DO_NOT_DISRUPT, message, row.key)

    def _of_pod_budgets(self, rows: Iterable[PodRow]) -> Iterable[Blocker]:
        """Return what refuses the eviction of these pods, one blocker for each budget or pod."""
        found: dict[tuple[str, str], Blocker] = {}
        for row in rows:
            if is_evictable(row, self._snapshot, self._now_ms):
                for one in self._refusals(row):
                    found.setdefault((one.kind, one.object), one)
        return found.values()

    def _refusals(self, row: PodRow) -> tuple[Blocker, ...]:
        budgets = self._pod_budgets.of(row)
        if len(budgets) > 1:
            return (_several(row, budgets),)
        return tuple(_exhausted(row, budget) for budget in self._pod_budgets.exhausted(row))


def blocker(kind: BlockerKind, message: str, concerned: str = "") -> Blocker:
    """Return a blocker; `concerned` names an object other than the node and its claim."""
    return Blocker(kind=kind.value, object=concerned, message=message)


def unmanaged(node: Node) -> Blocker:
    """Say that nobody manages the node."""
    return blocker(BlockerKind.UNMANAGED, f'node "{node.name}" has no nodeclaim')


def under_command(command_id: str) -> Blocker:
    """Say that the node is being disrupted already."""
    message = f'it is under command "{command_id}"'
    return blocker(BlockerKind.UNDER_COMMAND, message, command_id)


def _of_node(node: Node, claim: NodeClaim, now: datetime) -> Iterator[Blocker]:
    if not node.initialized:
        yield blocker(BlockerKind.NOT_INITIALIZED, f'node "{node.name}" is not initialized')
    if node.leaving or claim.deleting_at is not None:
        yield blocker(BlockerKind.LEAVING, f'node "{node.name}" is leaving')
    until = (node.nominated_until, claim.nominated_until)
    if any(one is not None and one > now for one in until):
        yield blocker(BlockerKind.NOMINATED, f'pods are expected on node "{node.name}"')
    if node.do_not_disrupt:
        message = f'node "{node.name}" or its nodeclaim says {do_not_disrupt.ANNOTATION}'
        yield blocker(BlockerKind.DO_NOT_DISRUPT, message)


def _until(row: PodRow) -> str:
    if row.do_not_disrupt_ms == do_not_disrupt.FOR_EVER:
        return ""
    end = do_not_disrupt.protected_until_ms(row.do_not_disrupt_ms, started_ms=row.started_ms)
    if end is None:
        return " before it has started and some time has passed"
    # rounded up to whole seconds, for people
    instant = datetime.fromtimestamp(-(-end // 1000), UTC)
    return f" until {instant:%Y-%m-%dT%H:%M:%SZ}"


def _several(row: PodRow, budgets: Iterable[PodDisruptionBudget]) -> Blocker:
    names = ", ".join(budget.key for budget in budgets)
    return blocker(
        BlockerKind.SEVERAL_POD_DISRUPTION_BUDGETS,
        f'pod "{row.key}" is under several pod disruption budgets ({names}), '
        "so it can never be evicted",
        row.key,
    )


def _exhausted(row: PodRow, budget: PodDisruptionBudget) -> Blocker:
    when = "ever" if budget.never_satisfiable else "now"
    return blocker(
        BlockerKind.POD_DISRUPTION_BUDGET,
        f'pod disruption budget "{budget.key}" allows no eviction {when}, '
        f'such as of pod "{row.key}"',
        budget.key,
    )
