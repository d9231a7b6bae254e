"""Emptiness: nodes that run nothing which would need another place are deleted.

A node is empty if no pod on it is reschedulable. Karpenter calls a node empty as well whose pods'
costs sum up to nothing, as with a very low deletion cost; here such a pod keeps its node, because
nobody looks whether the pods of an empty node have another place.

Source: `docs/sources.md` H4.
"""

from collections.abc import Iterable

from libs.domain.blockers import blocker
from libs.domain.blocking import BlockerKind
from libs.domain.nodeclaim import ConditionType
from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Blocker
from services.disruption.core.budgets import Allowances
from services.disruption.core.candidates import Candidate
from services.disruption.core.methods.method import Method, Move, Selection
from services.disruption.core.methods.order import by_saving, within_budgets


def refusal(candidate: Candidate) -> Blocker | None:
    """Return why the node may not be deleted as empty, None if it may; for all policies alike."""
    pool = candidate.pool
    if pool.replicas is not None:
        return blocker(BlockerKind.STATIC, f'nodepool "{pool.name}" keeps {pool.replicas} nodes')
    if pool.disruption.consolidate_after is None:
        return blocker(
            BlockerKind.CONSOLIDATION_DISABLED, f'nodepool "{pool.name}" never consolidates'
        )
    if candidate.reschedulable:
        count, first = len(candidate.reschedulable), candidate.reschedulable[0].key
        message = f'{count} pods would need another place, such as "{first}"'
        return blocker(BlockerKind.NOT_EMPTY, message)
    if candidate.buffer_pods:
        message = f"it keeps room for {candidate.buffer_pods} pods of capacity buffers"
        return blocker(BlockerKind.BUFFER_PODS, message)
    if not candidate.claim.is_true(ConditionType.CONSOLIDATABLE):
        message = f'nodeclaim "{candidate.claim.name}" is not consolidatable yet'
        return blocker(BlockerKind.NOT_CONSOLIDATABLE, message)
    return None


def select(candidates: Iterable[Candidate], allowances: Allowances) -> Selection:
    """Return one move for all empty nodes that the budgets allow, dearest first."""
    taken, refused = within_budgets(by_saving(candidates), DisruptionReason.EMPTY, allowances)
    return Selection(moves=(Move(candidates=taken),) if taken else (), refused=refused)


EMPTINESS = Method(
    name="emptiness",
    reason=DisruptionReason.EMPTY,
    consolidation_type="empty",
    validated=True,
    refusal=refusal,
    select=select,
)
