"""Disruption budgets at an instant: how many nodes of a pool may be disrupted for one reason.

Apart because disruption plans by it and lifecycle checks it again before it acts: one function, one
answer.

Law: a budget that cannot be evaluated allows nothing, whatever reason it is for.

Source: `docs/sources.md` 1.4, H3.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from libs.domain import cron
from libs.domain.duration import parse_go
from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import Budget, DisruptionReason

UNLIMITED = 2**31 - 1

_ANY_INSTANT = datetime(2000, 1, 1, tzinfo=UTC)

_NODES = re.compile(r"(?P<percent>100|[0-9]{1,2})%|(?P<nodes>[0-9]{1,10})")


def parse(
    nodes: str | int,
    reasons: Iterable[str] = (),
    schedule: str | None = None,
    duration: str | None = None,
) -> Budget:
    """Return the budget that a NodePool states.

    The schedule is kept as text: one that does not parse closes the budget instead of losing the
    pool.

    Raises:
        InvalidRequest: nodes, a reason or the duration is not legal.
    """
    match = _NODES.fullmatch(str(nodes))
    if match is None:
        raise InvalidRequest(f"{nodes!r} is neither a count nor 0% to 100%", field="nodes")
    try:
        span = None if duration is None else parse_go(duration)
    except InvalidRequest as error:
        raise error.under("duration") from None
    return Budget(
        nodes=None if match["nodes"] is None else int(match["nodes"]),
        percent=None if match["percent"] is None else int(match["percent"]),
        reasons=frozenset(_reason(text) for text in reasons),
        schedule=schedule or "",
        duration=span,
    )


def allowed_disruptions(
    budgets: Iterable[Budget], reason: DisruptionReason, *, nodes: int, now: datetime
) -> int:
    """Return how many of a pool's nodes may be disrupted at once, `UNLIMITED` if nothing limits it.

    Args:
        budgets: of the pool.
        reason: why one would disrupt.
        nodes: managed and initialized nodes of the pool, of which percentages are taken, rounded
            up.
        now: aware instant.
    """
    allowed = UNLIMITED
    for budget in budgets:
        try:
            active = is_active(budget, now)
        except InvalidRequest:
            return 0
        if active and (not budget.reasons or reason in budget.reasons):
            allowed = min(allowed, _limit(budget, nodes))
    return allowed


def is_active(budget: Budget, now: datetime) -> bool:
    """Tell whether the budget limits anything now: always, or for `duration` after each firing.

    Raises:
        InvalidRequest: the schedule does not parse, or comes without a duration.
    """
    if not budget.schedule and budget.duration is None:
        return True
    if not budget.schedule or budget.duration is None:
        raise InvalidRequest("a budget needs both schedule and duration, or neither")
    return cron.parse(budget.schedule).next_after(now - budget.duration) <= now


def problem(budget: Budget) -> str | None:
    """Return why the budget cannot be evaluated, or `None`."""
    try:
        is_active(budget, _ANY_INSTANT)
    except InvalidRequest as error:
        return error.detail
    return None


def _limit(budget: Budget, nodes: int) -> int:
    if budget.percent is None:
        return UNLIMITED if budget.nodes is None else min(budget.nodes, UNLIMITED)
    return -(-nodes * budget.percent // 100)


def _reason(text: str) -> DisruptionReason:
    try:
        return DisruptionReason(text)
    except ValueError:
        known = ", ".join(DisruptionReason)
        raise InvalidRequest(f"{text!r} is not one of {known}", field="reasons") from None
