"""What disrupting a node costs its pods.

Costs are integers, in units of 2^-27 of the cost of one ordinary pod: every input is then exact,
and sums do not depend on the order.

Source: `docs/sources.md` H2, costs.
"""

from collections.abc import Iterable
from datetime import datetime

from libs.domain.nodeclaim import NodeClaim
from libs.domain.pod import PodRow

ONE = 1 << 27
"""The cost of evicting a pod without a deletion cost or priority."""

_LIMIT = 10 * ONE
_PER_PRIORITY = 4
"""A priority weighs 2^-25, a deletion cost 2^-27."""


def eviction_cost(row: PodRow) -> int:
    """Return the cost of evicting one pod, within ten times that of an ordinary one either way."""
    return max(-_LIMIT, min(_LIMIT, ONE + row.deletion_cost + _PER_PRIORITY * row.priority))


def rescheduling_cost(rows: Iterable[PodRow]) -> int:
    """Return the cost of finding another place for these pods, and for the node itself."""
    return ONE + sum(max(0, eviction_cost(row)) for row in rows)


def lifetime_remaining(claim: NodeClaim, now: datetime) -> float:
    """Return the share of its life that a claim has left, 0 to 1; 1 if it does not expire."""
    if not claim.expire_after:
        return 1.0
    return max(0.0, min(1.0, 1.0 - (now - claim.created_at) / claim.expire_after))
