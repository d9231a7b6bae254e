"""What keeps a node from being given up, as far as the snapshot says.

Apart because it is disruption that decides; here is told what no decision of its could change:
states of node and claim, pods that may not be disrupted, budgets of pods. Budgets and policies of
pools depend on what else is being disrupted, and are left to `ListDecisions`.

Source: `docs/sources.md` H2.
"""

from collections.abc import Iterator
from datetime import datetime

from libs.domain import do_not_disrupt
from libs.domain.blocking import BlockerKind
from libs.domain.node import Node
from libs.domain.nodeclaim import NodeClaim
from libs.domain.plan import Blocker, Decision
from libs.domain.pod import PodRow
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.taint import DISRUPTED, tolerates


def decision_on(
    snapshot: ClusterSnapshot, node: Node, rows: tuple[PodRow, ...], now: datetime
) -> Decision:
    """Return what is in the way of giving a node up."""
    claim = snapshot.nodeclaims.get(node.nodeclaim)
    found: tuple[Blocker, ...]
    if claim is None:
        found = (_blocker(BlockerKind.UNMANAGED, f'node "{node.name}" has no nodeclaim'),)
    else:
        found = (
            *_of_node(node, claim, now),
            *_of_pool(snapshot, claim),
            *_of_pods(snapshot, rows, now),
        )
    command = claim.command.id if claim is not None and claim.command is not None else ""
    return Decision(
        node=node.name,
        nodeclaim=node.nodeclaim,
        candidate=not found,
        blockers=found,
        command_id=command,
    )


def _blocker(kind: BlockerKind, message: str, concerned: str = "") -> Blocker:
    return Blocker(kind=kind.value, object=concerned, message=message)


def _of_node(node: Node, claim: NodeClaim, now: datetime) -> Iterator[Blocker]:
    if claim.command is not None:
        message = f'it is under command "{claim.command.id}"'
        yield _blocker(BlockerKind.UNDER_COMMAND, message, claim.command.id)
    if not node.initialized:
        yield _blocker(BlockerKind.NOT_INITIALIZED, "it is not initialized")
    if node.leaving or claim.deleting_at is not None:
        yield _blocker(BlockerKind.LEAVING, "it is leaving")
    until = (node.nominated_until, claim.nominated_until)
    if any(one is not None and one > now for one in until):
        yield _blocker(BlockerKind.NOMINATED, "pods are expected on it")
    if node.do_not_disrupt:
        message = f"it, or its nodeclaim, says {do_not_disrupt.ANNOTATION}"
        yield _blocker(BlockerKind.DO_NOT_DISRUPT, message)


def _of_pool(snapshot: ClusterSnapshot, claim: NodeClaim) -> Iterator[Blocker]:
    pool = snapshot.nodepools.get(claim.nodepool)
    if not claim.nodepool:
        yield _blocker(BlockerKind.STANDALONE, "its nodeclaim belongs to no nodepool")
    elif pool is None:
        message = f'nodepool "{claim.nodepool}" does not exist'
        yield _blocker(BlockerKind.NODEPOOL_NOT_FOUND, message, claim.nodepool)
    elif pool.template.node_class.key not in snapshot.catalogues:
        message = f'no instance types are known for nodepool "{pool.name}"'
        yield _blocker(BlockerKind.CATALOGUE_NOT_FOUND, message, pool.name)


def _of_pods(
    snapshot: ClusterSnapshot, rows: tuple[PodRow, ...], now: datetime
) -> Iterator[Blocker]:
    now_ms = int(now.timestamp() * 1000)
    told: set[str] = set()
    for row in rows:
        name = f"{row.namespace}/{row.name}"
        protected = do_not_disrupt.protects(
            row.do_not_disrupt_ms, started_ms=row.started_ms, now_ms=now_ms
        )
        if row.active and protected:
            message = f'pod "{name}" may not be disrupted ({do_not_disrupt.ANNOTATION})'
            yield _blocker(BlockerKind.DO_NOT_DISRUPT, message, name)
        elif _is_evicted(snapshot, row):
            for one in _budgets(snapshot, row, name):
                if one.object not in told:
                    told.add(one.object)
                    yield one


def _is_evicted(snapshot: ClusterSnapshot, row: PodRow) -> bool:
    mirror = row.owner is not None and row.owner.is_node
    tolerations = snapshot.shapes[row.shape].tolerations
    return row.active and not mirror and not tolerates(tolerations, (DISRUPTED,))


def _budgets(snapshot: ClusterSnapshot, row: PodRow, name: str) -> Iterator[Blocker]:
    labels = dict(snapshot.shapes[row.shape].labels)
    mine = [
        one
        for one in snapshot.pod_disruption_budgets.values()
        if one.namespace == row.namespace
        and one.selector is not None
        and one.selector.matches(labels)
    ]
    if len(mine) > 1:
        names = ", ".join(one.key for one in mine)
        message = f'pod "{name}" is under several pod disruption budgets ({names})'
        yield _blocker(BlockerKind.SEVERAL_POD_DISRUPTION_BUDGETS, message, name)
        return
    for one in mine:
        if one.disruptions_allowed <= 0 and not (one.evicts_unhealthy_always and not row.ready):
            when = "ever" if one.never_satisfiable else "now"
            message = (
                f'pod disruption budget "{one.key}" allows no eviction {when}, '
                f'such as of pod "{name}"'
            )
            yield _blocker(BlockerKind.POD_DISRUPTION_BUDGET, message, one.key)
