"""Disruption budgets at an instant."""

from datetime import UTC, datetime, timedelta

import pytest

from libs.domain import budget
from libs.domain.budget import UNLIMITED
from libs.domain.errors import InvalidRequest
from libs.domain.nodepool import Budget, DisruptionReason

NOON = datetime(2026, 6, 3, 12, tzinfo=UTC)  # a Wednesday
EMPTY, DRIFTED = DisruptionReason.EMPTY, DisruptionReason.DRIFTED


def allowed(*budgets: Budget, nodes: int = 10, now: datetime = NOON) -> int:
    return budget.allowed_disruptions(budgets, EMPTY, nodes=nodes, now=now)


@pytest.mark.parametrize(
    ("value", "nodes", "expected"),
    [
        pytest.param("3", 10, 3, id="a count"),
        pytest.param("30", 10, 30, id="a count above the nodes"),
        pytest.param("10%", 10, 1, id="a share"),
        pytest.param("10%", 11, 2, id="a share rounds up"),
        pytest.param("1%", 1, 1, id="to one at least"),
        pytest.param("0%", 10, 0, id="none"),
        pytest.param("0", 10, 0, id="zero"),
        pytest.param("100%", 7, 7, id="all"),
        pytest.param("50%", 0, 0, id="of nothing"),
        pytest.param(2, 10, 2, id="a bare number"),
        pytest.param("9999999999", 10, UNLIMITED, id="beyond 32 bits"),
    ],
)
def test_nodes_and_shares(value: str | int, nodes: int, expected: int) -> None:
    assert allowed(budget.parse(value), nodes=nodes) == expected


def test_without_budgets_nothing_is_limited() -> None:
    assert allowed() == UNLIMITED


def test_the_tightest_budget_of_the_reason_counts() -> None:
    many, few = budget.parse("5"), budget.parse("2", ["Empty", "Drifted"])
    other = budget.parse("0", ["Underutilized"])

    assert allowed(many, few, other) == 2


@pytest.mark.parametrize(
    ("schedule", "duration", "now", "active"),
    [
        pytest.param("0 11 * * *", "2h", NOON, True, id="within"),
        pytest.param("0 10 * * *", "2h", NOON, False, id="just over"),
        pytest.param("0 12 * * *", "1m", NOON, True, id="just begun"),
        pytest.param("1 12 * * *", "1h", NOON, False, id="not yet"),
        pytest.param("0 23 * * TUE", "14h", NOON, True, id="over midnight"),
        pytest.param("@daily", "24h", NOON, True, id="all day"),
    ],
)
def test_a_scheduled_budget_counts_only_while_active(
    schedule: str, duration: str, now: datetime, active: bool
) -> None:
    scheduled = budget.parse("1", (), schedule, duration)

    assert allowed(scheduled, now=now) == (1 if active else UNLIMITED)


@pytest.mark.parametrize(
    ("schedule", "span"),
    [
        pytest.param("61 * * * *", timedelta(hours=1), id="bad schedule"),
        pytest.param("0 0 30 2 *", timedelta(hours=1), id="a day that never comes"),
        pytest.param("@daily", None, id="no duration"),
        pytest.param("", timedelta(hours=1), id="no schedule"),
    ],
)
def test_a_broken_budget_allows_nothing_for_any_reason(
    schedule: str, span: timedelta | None
) -> None:
    broken = Budget(nodes=5, reasons=frozenset({DRIFTED}), schedule=schedule, duration=span)

    assert allowed(Budget(nodes=9), broken) == 0
    assert budget.problem(broken)
    assert budget.problem(Budget(nodes=9)) is None


@pytest.mark.parametrize(
    ("nodes", "reasons", "duration", "path"),
    [
        pytest.param("101%", (), None, "nodes", id="more than all"),
        pytest.param("-1", (), None, "nodes", id="negative"),
        pytest.param("1.5", (), None, "nodes", id="a fraction"),
        pytest.param("", (), None, "nodes", id="empty"),
        pytest.param("\u0661", (), None, "nodes", id="a digit of another script"),
        pytest.param("1", ("empty",), None, "reasons", id="unknown reason"),
        pytest.param("1", (), "1d", "duration", id="bad duration"),
    ],
)
def test_illegal_budgets_are_refused(
    nodes: str, reasons: tuple[str, ...], duration: str | None, path: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        budget.parse(nodes, reasons, None, duration)

    assert caught.value.field == path
