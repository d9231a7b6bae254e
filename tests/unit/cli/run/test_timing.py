from datetime import timedelta

import pytest

from cli.run.observed import Observed
from cli.run.timing import Purchase, largest_plan, percentile, purchases, waits
from libs.kube.api import NODE_CLAIMS, PODS
from libs.kube.informer import ObjectKey
from tests.unit.cli.run.objects import a_claim, a_pod


class HandClock:
    """A clock whose monotonic reading is set by hand."""

    reading = 0.0

    def monotonic(self) -> float:
        return self.reading


def test_a_pod_waits_from_its_condition_to_the_claim_of_the_node_that_it_gets() -> None:
    clock = HandClock()
    observed = Observed(clock)
    observed.upsert(PODS, a_pod("web-1", unschedulable=True))
    clock.reading = 0.5
    observed.upsert(PODS, a_pod("web-1", unschedulable=True))
    clock.reading = 2.0
    observed.upsert(NODE_CLAIMS, a_claim("general-1", node="", plan="p7/3"))
    clock.reading = 4.0
    observed.upsert(NODE_CLAIMS, a_claim("general-1", node="n1", plan="p7/3"))
    observed.upsert(PODS, a_pod("web-1", node="n1"))

    assert purchases(observed) == {
        "uid-web-1": Purchase(plan="p7", waited_since=0.0, bought_at=2.0)
    }


def test_pods_whose_node_was_there_before_and_pods_without_one_are_left_out() -> None:
    clock = HandClock()
    observed = Observed(clock)
    observed.upsert(NODE_CLAIMS, a_claim("general-1", node="n1"))
    clock.reading = 1.0
    observed.upsert(PODS, a_pod("late", node="n1", unschedulable=True))
    observed.upsert(PODS, a_pod("lost", unschedulable=True))

    assert purchases(observed) == {}


def test_what_is_gone_is_forgotten_but_not_when_it_came() -> None:
    observed = Observed(HandClock())
    observed.upsert(NODE_CLAIMS, a_claim("general-1"))
    observed.upsert(PODS, a_pod("web-1", unschedulable=True))

    observed.remove(NODE_CLAIMS, ObjectKey("", "general-1", ""))
    observed.remove(PODS, ObjectKey("shop", "web-1", ""))

    assert (observed.claims, observed.pods) == ({}, {})
    assert observed.bought_at == {"general-1": 0.0}
    assert observed.waiting_since == {"uid-web-1": 0.0}


def test_a_plan_counts_from_its_last_pod_and_the_quiet_time_is_taken_off() -> None:
    first = Purchase(plan="p1", waited_since=0.0, bought_at=4.5)
    last = Purchase(plan="p1", waited_since=3.0, bought_at=4.25)
    other = Purchase(plan="p2", waited_since=0.0, bought_at=10.5)

    assert largest_plan([other, first, last], timedelta(seconds=1)) == (2, 0.5)
    assert waits([first, last, other]) == [1.25, 4.5, 10.5]


def test_without_purchases_there_is_no_largest_plan() -> None:
    assert largest_plan([], timedelta(seconds=1)) == (0, 0.0)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        pytest.param([], 99, 0.0, id="of nothing"),
        pytest.param([1.0], 50, 1.0, id="of one"),
        pytest.param([1.0, 2.0], 50, 1.0, id="half of two"),
        pytest.param([float(n) for n in range(1, 101)], 99, 99.0, id="of a hundred"),
        pytest.param([float(n) for n in range(1, 11)], 99, 10.0, id="of ten"),
    ],
)
def test_a_percentile_is_a_value_that_was_seen(
    values: list[float], percent: int, expected: float
) -> None:
    assert percentile(values, percent) == expected
