"""What is counted down as claims are opened: limits of pools, and instances of reservations."""

from collections.abc import Sequence

import pytest

from tests.unit.kernel.plain_algebra import PlainAlgebra, Sold

SMALL, LARGE = [4], [8]


def _limited(left: Sequence[int], nodes: int | None = None) -> PlainAlgebra:
    one = PlainAlgebra()
    capacities = [SMALL[: len(left)], LARGE[: len(left)]]
    one.sell(
        Sold(room=[SMALL, LARGE], prices=[1, 2], capacities=capacities, left=left, nodes=nodes)
    )
    return one


def test_a_claim_is_charged_with_the_largest_type_that_it_may_become() -> None:
    one = _limited([18])

    assert one.place(one.ask(1), 1) == 1
    assert one.packing.limits_left(0) == [10]
    assert one.packing.charged(0) == [0]


def test_a_claim_that_becomes_smaller_is_charged_anew() -> None:
    one = _limited([10])
    one.place(one.ask(1), 1)
    before = one.packing.rows_left(0)

    one.packing.become(0, one.class_of(0, [True, False]))

    after = one.packing.rows_left(0)
    assert before is not None
    assert after is not None
    assert (before.tolist(), after.tolist()) == ([False, False], [True, False])
    assert one.packing.limits_left(0) == [6]


def test_no_claim_is_opened_of_what_the_limits_do_not_allow() -> None:
    one = _limited([7])

    assert one.place(one.ask(5), 1) == 0
    assert one.place(one.ask(4), 3) == 1
    assert one.packing.limits_left(0) == [3]


@pytest.mark.parametrize(("nodes", "placed"), [(0, 0), (1, 2), (2, 4), (None, 5)])
def test_no_more_nodes_are_opened_than_are_left(nodes: int | None, placed: int) -> None:
    one = _limited([], nodes)

    assert one.place(one.ask(4), 5) == placed
    assert one.packing.nodes_left(0) == (None if nodes is None else 0)
    assert one.packing.rows_left(0) is None


def _reserved(instances: int) -> PlainAlgebra:
    one = PlainAlgebra(reservations=[instances])
    one.sell(Sold(room=[SMALL, LARGE], prices=[1, 2], reservations=[0, -1]))
    return one


@pytest.mark.parametrize(
    ("waits", "placed"),
    [
        pytest.param(True, 4, id="who waits has to wait once all instances are promised"),
        pytest.param(False, 6, id="who does not goes beside the reservation"),
    ],
)
def test_each_claim_takes_an_instance_of_a_reservation(waits: bool, placed: int) -> None:
    one = _reserved(2)

    assert one.place(one.ask(2), 6, waits=waits) == placed
    assert one.packing.is_deferred(0) is waits


def test_who_does_not_fit_on_what_is_reserved_waits_for_nobody() -> None:
    one = _reserved(0)

    assert one.place(one.ask(5), 2) == 2
    assert not one.packing.is_deferred(0)


def test_a_claim_that_may_no_longer_become_a_reservation_releases_it() -> None:
    one = PlainAlgebra(reservations=[1, 1])
    one.sell(Sold(room=[SMALL, LARGE], prices=[1, 2], reservations=[0, 1]))
    ask = one.ask(4)
    # A claim of either reservation; the second pod makes it the larger one.
    assert one.place(ask, 2) == 2
    assert one.packing.pods().tolist() == [2]

    assert one.place(ask, 1) == 1
    assert one.packing.pods().tolist() == [2, 1]
    assert one.place(ask, 1) == 0
    assert one.packing.is_deferred(2)
