"""What moving pods costs them, by which nodes to disrupt are compared.

Costs are integers, in units of 2^-27 of the cost of one ordinary pod: every input is then exact,
and sums do not depend on the order.

Apart because disruption and the solver weigh savings against them alike.

Source: `docs/sources.md` H2, costs.
"""

from collections.abc import Iterable

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
