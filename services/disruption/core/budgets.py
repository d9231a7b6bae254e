"""How many more nodes of each pool may be disrupted now, for each reason.

The budgets themselves are `libs/domain/budget.py`; here the nodes that count are counted, as
lifecycle counts them when it admits a command.

Source: `docs/sources.md` H3.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain import budget
from libs.domain.blockers import blocker
from libs.domain.blocking import BlockerKind
from libs.domain.budget import allowed_disruptions
from libs.domain.node import Node
from libs.domain.nodeclaim import ConditionType, NodeClaim
from libs.domain.nodepool import Budget, DisruptionReason
from libs.domain.plan import Blocker
from services.disruption.core.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What a pool's budgets allow for one reason."""

    nodepool: str
    reason: DisruptionReason
    allowed: int
    """`budget.UNLIMITED` if nothing limits it."""
    disrupting: int
    """Nodes of the pool that are being disrupted or are not ready, for whatever reason."""

    @property
    def left(self) -> int:
        """How many more nodes may be disrupted now."""
        return max(0, self.allowed - self.disrupting)

    def refusal(self) -> Blocker:
        """Return what keeps one node more from being disrupted."""
        message = (
            f'nodepool "{self.nodepool}" allows {self.allowed} disruptions for {self.reason} now, '
            f"{self.disrupting} are under way"
        )
        return blocker(BlockerKind.BUDGET, message, self.nodepool)


Allowances = Mapping[tuple[str, DisruptionReason], Allowance]
"""By pool and reason: every combination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenBudget:
    """A pool whose budgets allow nothing because one of them cannot be evaluated."""

    nodepool: str
    problem: str


def allowances(question: Question) -> Allowances:
    """Return what is allowed now."""
    counts = _counts(question)
    found: dict[tuple[str, DisruptionReason], Allowance] = {}
    for pool in question.snapshot.nodepools.values():
        nodes, disrupting = counts.get(pool.name, (0, 0))
        for reason in DisruptionReason:
            allowed = allowed_disruptions(
                pool.disruption.budgets, reason, nodes=nodes, now=question.now
            )
            found[pool.name, reason] = Allowance(
                nodepool=pool.name, reason=reason, allowed=allowed, disrupting=disrupting
            )
    return found


def broken(question: Question) -> tuple[BrokenBudget, ...]:
    """Return the pools with a budget that cannot be evaluated, in order of name."""
    return tuple(
        BrokenBudget(nodepool=pool.name, problem=problem)
        for pool in question.snapshot.nodepools.values()
        if (problem := _first_problem(pool.disruption.budgets)) is not None
    )


def _first_problem(budgets: Iterable[Budget]) -> str | None:
    return next((found for one in budgets if (found := budget.problem(one)) is not None), None)


def _counts(question: Question) -> Mapping[str, tuple[int, int]]:
    """Return how many nodes each pool has, and how many of them are being disrupted."""
    nodes = {node.nodeclaim: node for node in question.snapshot.nodes.values() if node.nodeclaim}
    found: dict[str, tuple[int, int]] = {}
    for claim in question.snapshot.nodeclaims.values():
        if _counts_for_budgets(claim):
            total, disrupting = found.get(claim.nodepool, (0, 0))
            gone = _is_disrupting(claim, nodes.get(claim.name), question)
            found[claim.nodepool] = (total + 1, disrupting + gone)
    return found


def _counts_for_budgets(claim: NodeClaim) -> bool:
    initialized = claim.is_true(ConditionType.INITIALIZED)
    return initialized and not claim.is_true(ConditionType.INSTANCE_TERMINATING)


def _is_disrupting(claim: NodeClaim, node: Node | None, question: Question) -> bool:
    if node is None or not node.ready or node.leaving or claim.deleting_at is not None:
        return True
    return bool(question.command_of(claim))
