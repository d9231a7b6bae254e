"""Budgets: how many nodes of each pool may be given up, for each reason.

Apart because two reasons share one count: a node that goes counts for either, whatever it goes for,
as it would if disruption were asked again after each command.

Source: `docs/sources.md` H3.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from libs.domain.budget import UNLIMITED
from libs.domain.nodepool import DisruptionReason
from libs.domain.question import ConsolidateQuestion
from services.solver.core.consolidating.leavers import Leaver

_OTHER = {
    DisruptionReason.EMPTY: DisruptionReason.UNDERUTILIZED,
    DisruptionReason.UNDERUTILIZED: DisruptionReason.EMPTY,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """What pools allow; one that is absent allows everything."""

    most: Mapping[tuple[str, DisruptionReason], int] = field(default_factory=dict)
    """Most nodes to give up by pool and reason; below 0 where others were more."""

    @property
    def pools(self) -> tuple[str, ...]:
        """Return the pools that set bounds, sorted."""
        return tuple(sorted({pool for pool, _ in self.most}))

    def left(self, pool: str, reason: DisruptionReason) -> int:
        """Return how many nodes more may be given up for a reason."""
        return max(self.most.get((pool, reason), UNLIMITED), 0)

    def left_in_all(self, pool: str) -> int:
        """Return how many nodes more may be given up, each for the reason that allows most."""
        return max(self.left(pool, reason) for reason in _OTHER)

    def is_scarcer(self, leaver: Leaver) -> bool:
        """Tell whether fewer may go for its reason than for the other: so it goes first."""
        pool, reason = leaver.candidate.nodepool, leaver.reason
        return self.left(pool, reason) < self.left(pool, _OTHER[reason])

    def allows(self, leavers: Iterable[Leaver]) -> bool:
        """Tell whether these may be given up by one command."""
        together = tuple(leavers)
        reason = reason_of(together)
        pools = Counter(one.candidate.nodepool for one in together)
        return all(count <= self.left(pool, reason) for pool, count in pools.items())

    def without(self, leavers: Iterable[Leaver]) -> "Budgets":
        """Return what is allowed once these are given up."""
        gone = Counter(one.candidate.nodepool for one in leavers)
        return Budgets(most={key: most - gone[key[0]] for key, most in self.most.items()})


def budgets(question: ConsolidateQuestion) -> Budgets:
    """Return the budgets that a question states."""
    most = dict(question.node_budgets)
    by_reason = {
        DisruptionReason.UNDERUTILIZED: most,
        DisruptionReason.EMPTY: most | dict(question.empty_node_budgets),
    }
    return Budgets(
        most={
            (pool, reason): number
            for reason, here in by_reason.items()
            for pool, number in here.items()
        }
    )


def reason_of(leavers: Iterable[Leaver]) -> DisruptionReason:
    """Return why one command gives these up."""
    empty = all(one.reason is DisruptionReason.EMPTY for one in leavers)
    return DisruptionReason.EMPTY if empty else DisruptionReason.UNDERUTILIZED
