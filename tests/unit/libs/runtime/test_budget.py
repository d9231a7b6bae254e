from datetime import timedelta

from libs.runtime.budget import spending


def test_a_budget_of_nothing_is_spent_at_once() -> None:
    assert spending(timedelta())()


def test_a_large_budget_is_not_spent_at_once() -> None:
    spent = spending(timedelta(days=1))

    assert not spent()
    assert not spent()
