"""Rounds: who is tried again and when, how they end, and that other threads run meanwhile."""

import itertools
import sys
import threading
from collections.abc import Iterator

import joiner_kernel
import pytest

from tests.unit.kernel.plain_algebra import PlainAlgebra, PlainPacker, Sold

ROOM = 4
TOO_MUCH = ROOM + 1


class _Recording(PlainPacker):
    """Notes who was refused, all of whom wait for the same."""

    def __init__(self, *causes: int, looks: int = 0) -> None:
        self.refused: list[int] = []
        self._causes = list(causes)
        self._looks = itertools.repeat(False) if not looks else iter([False] * (looks - 1))

    def cancelled(self) -> bool:
        return next(self._looks, True)

    def causes(self, group: int) -> list[int]:
        self.refused.append(group)
        return self._causes


def _waiting(*turns: int) -> tuple[PlainAlgebra, list[int]]:
    """Return one standing bin, and groups with these turns of which nobody fits on it."""
    one = PlainAlgebra([[ROOM]])
    one.sell()
    large = one.ask(TOO_MUCH)
    return one, [one.add_group(large, 1, turn=turn) for turn in turns]


def test_groups_have_their_turns_in_one_order() -> None:
    one, groups = _waiting(3, 1, 2)
    packer = _Recording()

    one.packing.take_turns(groups, packer)

    assert packer.refused == [1, 2, 0]


def test_who_is_woken_comes_in_the_same_round_if_its_turn_is_still_to_come() -> None:
    one, groups = _waiting(0, 2, 3)
    packer = _Recording(joiner_kernel.PLACED)
    one.packing.take_turns(groups, packer)
    small = one.add_group(one.ask(1), 1, turn=1)

    one.packing.take_turns([small], packer)

    assert packer.refused == [*groups, groups[1], groups[2], groups[0]]


def test_nobody_comes_twice_in_a_round_however_often_it_is_woken() -> None:
    one, groups = _waiting(1)
    packer = _Recording(joiner_kernel.PLACED, joiner_kernel.OPENED, joiner_kernel.PLACED)
    one.packing.take_turns(groups, packer)
    small = one.add_group(one.ask(1), 1, turn=0)

    one.packing.take_turns([small], packer)

    assert packer.refused == groups * 2


def test_who_is_given_a_turn_is_not_woken_besides() -> None:
    one, groups = _waiting(0)
    packer = _Recording(joiner_kernel.PLACED)
    one.packing.take_turns(groups, packer)
    small = one.add_group(one.ask(1), 1, turn=1)

    one.packing.take_turns([*groups, small], packer)

    # Once before the small one is placed, once since it was.
    assert packer.refused == groups * 3


@pytest.mark.parametrize(
    ("cause", "woken"),
    [
        pytest.param(joiner_kernel.OPENED, True, id="a new claim"),
        pytest.param(joiner_kernel.BECOME, True, id="what no claim was before"),
        pytest.param(0, True, id="a tally that counts one more"),
        pytest.param(1, False, id="a tally that does not"),
    ],
)
def test_who_rests_is_woken_by_what_it_waits_for(cause: int, woken: bool) -> None:
    one = PlainAlgebra()
    one.sell(Sold(room=[[ROOM]], prices=[1]))
    counted, other = (one.packing.add_tally(None, None, None) for _ in range(2))
    assert (counted, other) == (0, 1)
    shape = one.shape()
    one.packing.counts(counted, [shape])
    large = one.add_group(one.ask(TOO_MUCH), 1)
    packer = _Recording(cause)
    one.packing.take_turns([large], packer)

    one.packing.take_turns([one.add_group(one.ask(1, shape=shape), 1)], packer)

    assert packer.refused == [large] * (1 + woken)


def test_pods_that_nobody_is_there_to_be_near_look_for_no_place() -> None:
    one = PlainAlgebra([[ROOM]])
    one.sell()
    tally = one.packing.add_tally(None, None, None)
    shape = one.shape()
    one.packing.counts(tally, [shape])
    near = one.add_group(one.ask(1), 1, awaited=[[tally]])
    packer = _Recording(tally)
    one.packing.take_turns([near], packer)
    before = one.packing.left()

    one.packing.take_turns([one.add_group(one.ask(1, shape=shape), 1)], packer)

    assert (before, packer.refused, one.packing.left()) == ([1], [near], [0, 0])


def test_a_cancelled_round_ends_in_its_middle() -> None:
    many = 2000
    one = PlainAlgebra([[many]])
    one.sell()
    groups = [one.add_group(ask, 1) for ask in [one.ask(1)] * many]

    assert not one.packing.take_turns(groups, _Recording(looks=3))
    assert 0 < sum(one.packing.left()) < many


def test_a_cancelled_round_begins_with_nobody() -> None:
    one = PlainAlgebra([[ROOM]])
    one.sell()
    group = one.add_group(one.ask(1), 1)

    assert not one.packing.take_turns([group], _Recording(looks=1))
    assert one.packing.left() == [1]


@pytest.fixture
def nobody_yields() -> Iterator[None]:
    """Let a thread have Python until it waits or lets go of it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("nobody_yields")
def test_other_threads_run_while_the_kernel_packs() -> None:
    one = PlainAlgebra([[1]] * 2000)
    one.sell()
    ask = one.ask(1)
    go, ran = threading.Event(), threading.Event()

    def wait_and_run() -> None:
        go.wait()
        ran.set()

    other = threading.Thread(target=wait_and_run)
    other.start()
    go.set()
    one.packing.left()
    waited = not ran.is_set()

    while not ran.is_set():  # the test's own timeout ends it
        one.place(ask, 1)

    other.join()
    assert waited


@pytest.mark.parametrize(
    ("used", "woken"),
    [
        pytest.param(ROOM - 2, True, id="and it has room for a pod"),
        pytest.param(ROOM - 1, False, id="and it has none"),
    ],
)
def test_who_waits_for_room_is_woken_by_a_new_claim(used: int, woken: bool) -> None:
    one = PlainAlgebra()
    one.sell(Sold(room=[[ROOM]], prices=[1]))
    shape = one.shape()
    # It never has a place, so that it is refused whenever it has a turn.
    waiting = one.add_group(one.ask(2, shape=shape), 1, buys=False)
    packer = _Recording(joiner_kernel.ROOM)
    one.packing.take_turns([waiting], packer)

    one.packing.take_turns([one.add_group(one.ask(used, shape=shape), 1)], packer)

    assert packer.refused == [waiting] * (1 + woken)
