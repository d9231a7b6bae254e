"""Which candidates come first, and how many of them the budgets allow: the same for all methods.

Source: `docs/sources.md` H2 (order) and H3.
"""

from collections import Counter
from collections.abc import Iterable

from libs.domain.nodepool import DisruptionReason
from libs.domain.plan import Blocker
from services.disruption.core.budgets import Allowances
from services.disruption.core.candidates import Candidate


def by_saving(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates, those first that save most for each move of a pod.

    Karpenter leaves open which of equals comes first; here it is the one that expires first.
    """
    return tuple(sorted(candidates, key=_rank))


def within_budgets(
    candidates: Iterable[Candidate], reason: DisruptionReason, allowances: Allowances
) -> tuple[tuple[Candidate, ...], dict[str, Blocker]]:
    """Return the candidates that the budgets allow, in the order given, and why not the others."""
    taken: list[Candidate] = []
    refused: dict[str, Blocker] = {}
    used: Counter[str] = Counter()
    for candidate in candidates:
        allowance = allowances[candidate.pool.name, reason]
        if used[candidate.pool.name] < allowance.left:
            used[candidate.pool.name] += 1
            taken.append(candidate)
        else:
            refused[candidate.node.name] = allowance.refusal()
    return tuple(taken), refused


def _rank(candidate: Candidate) -> tuple[float, float, str]:
    ratio = candidate.price_nanos_per_hour / candidate.rescheduling_cost
    return -ratio, candidate.lifetime_remaining, candidate.node.name
