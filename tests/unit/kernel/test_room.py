"""What fits on claims: types of which none is larger in all, minValues, saturated amounts."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.unit.kernel.plain_algebra import PlainAlgebra, Sold

MOST = 2**60
"""At which requests saturate; room does one below it."""


def _pods_by_claim(one: PlainAlgebra, ask: int, want: int) -> list[int]:
    one.place(ask, want)
    found: list[int] = one.packing.pods().tolist()
    return found


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        pytest.param((16, 4), [1, 1], id="the widest"),
        pytest.param((8, 8), [1, 1], id="the tallest"),
        pytest.param((9, 5), [], id="under the widest and the tallest apart, under none of them"),
        pytest.param((4, 2), [2], id="twice on either"),
        pytest.param((8, 2), [2], id="twice on the widest only"),
        pytest.param((2, 4), [2], id="twice on the tallest only"),
        pytest.param((0, 0), [2], id="nothing at all"),
        pytest.param((0, 9), [], id="too much of one thing"),
    ],
)
def test_pods_fit_together_if_they_fit_on_one_type(
    request_: tuple[int, int], expected: Sequence[int]
) -> None:
    one = PlainAlgebra(resources=2)
    one.sell(Sold(room=[[8, 8], [3, 3], [16, 4], [16, 4], [8, 1]], prices=[4, 1, 4, 5, 2]))

    assert _pods_by_claim(one, one.ask(*request_), 2) == expected


def test_other_pods_use_up_what_a_pod_does_not_ask_for() -> None:
    one = PlainAlgebra(resources=2)
    one.sell(Sold(room=[[8, 8], [16, 4]], prices=[1, 1]))
    tall, wide = one.ask(1, 6), one.ask(9, 0)

    assert _pods_by_claim(one, tall, 1) == [1]
    assert _pods_by_claim(one, wide, 1) == [1, 1]


def test_pods_join_a_claim_whose_first_pod_asks_for_nothing() -> None:
    one = PlainAlgebra(resources=2)
    one.sell(Sold(room=[[8, 8]], prices=[1]))
    nothing, some = one.ask(0, 0), one.ask(1, 0)

    assert _pods_by_claim(one, nothing, 1) == [1]
    assert _pods_by_claim(one, nothing, 1) == [2]
    assert _pods_by_claim(one, some, 1) == [3]


def test_a_type_whose_daemons_leave_less_than_nothing_takes_nobody() -> None:
    one = PlainAlgebra(resources=2)
    one.sell(Sold(room=[[8, -1]], prices=[1]))

    assert _pods_by_claim(one, one.ask(1, 0), 1) == []


@pytest.mark.parametrize(("amount", "placed"), [(MOST - 1, 1), (MOST, 0)])
def test_amounts_that_saturate_do_not_overflow(amount: int, placed: int) -> None:
    one = PlainAlgebra([[-MOST], [MOST - 1]])
    one.sell(Sold(room=[[MOST - 1], [-MOST]], prices=[1, 1], capacities=[[MOST]] * 2, left=[MOST]))
    ask = one.ask(amount)

    assert [one.place(ask, 1) for _ in range(3)] == [placed, placed, 0]
    assert one.packing.limits_left(0) == [MOST - placed * MOST]


@pytest.mark.parametrize(
    ("least", "strict", "expected"),
    [
        pytest.param(1, True, [4, 1], id="a single type"),
        pytest.param(2, True, [2, 2, 1], id="two types"),
        pytest.param(3, True, [1] * 5, id="all three"),
        pytest.param(4, True, [], id="more than there are"),
        pytest.param(4, False, [1] * 5, id="more than there are, at best effort"),
    ],
)
def test_claims_keep_as_many_types_to_choose_from_as_wanted(
    least: int, strict: bool, expected: Sequence[int]
) -> None:
    one = PlainAlgebra(strict_min_values=strict)
    wanted = (least, np.arange(3), [[0], [1], [2]], 3)
    one.sell(Sold(room=[[1], [2], [4]], prices=[1, 2, 4], wanted=[wanted]))

    assert _pods_by_claim(one, one.ask(1), 5) == expected


def test_values_that_several_types_have_count_once() -> None:
    one = PlainAlgebra()
    wanted = (2, np.array([0, 0, 1]), [[0], [0, 1]], 2)
    one.sell(Sold(room=[[4], [4], [2]], prices=[1, 2, 4], wanted=[wanted]))

    assert _pods_by_claim(one, one.ask(1), 5) == [2, 2, 1]
