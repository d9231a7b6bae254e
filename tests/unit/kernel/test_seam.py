"""The seam between Python and the kernel: what is missing, what fails, what outlives what."""

import subprocess
import sys
import weakref
from collections.abc import Callable

import joiner_kernel
import numpy as np
import numpy.typing as npt
import pytest

from tests.unit.kernel.plain_algebra import PlainAlgebra, PlainPacker, Sold

ENDS_IN_THE_MIDDLE = """
import threading
from tests.unit.kernel.plain_algebra import PlainAlgebra, Sold

class Slow(PlainAlgebra):
    def reached(self, known, pool, kinds):
        waiting.set()
        threading.Event().wait()

def place():
    one = Slow()
    one.sell(Sold(room=[[1]], prices=[1]))
    one.place(one.ask(1), 1)

waiting = threading.Event()
threading.Thread(target=place, daemon=True).start()
waiting.wait()
"""


class _FailsOnce(PlainAlgebra):
    """Is interrupted when it is asked for the first time which nodes suit."""

    asked = 0

    def compatible(self, site: int) -> npt.NDArray[np.bool_]:
        self.asked += 1
        if self.asked == 1:
            raise KeyboardInterrupt
        return super().compatible(site)


def test_an_answer_that_failed_is_not_remembered() -> None:
    one = _FailsOnce([[3]])
    ask = one.ask(1)
    with pytest.raises(KeyboardInterrupt):
        one.place(ask, 3, buys=False)

    assert [one.place(ask, want, buys=False) for want in (1, 1, 5)] == [1, 1, 1]
    assert one.asked == 2


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda one: one.take_turns([0], PlainPacker()), id="ask in a round"),
        pytest.param(lambda one: one.take_turns([1], PlainPacker()), id="group"),
        pytest.param(lambda one: one.verdict(-1), id="negative"),
        pytest.param(lambda one: one.total(0), id="tally"),
        pytest.param(lambda one: one.counts(0, [0]), id="shape"),
        pytest.param(lambda one: one.limits_left(0), id="pool"),
        pytest.param(lambda one: one.give_up_unreachable(0), id="ask to give up for"),
    ],
)
def test_numbers_that_nobody_gave_out_are_an_error(
    use: Callable[[joiner_kernel.Packing], object],
) -> None:
    one = PlainAlgebra()
    one.add_group(0, 1)

    with pytest.raises(IndexError):
        use(one.packing)


def test_nobody_is_placed_before_it_is_known_who_comes_to_new_nodes() -> None:
    one = PlainAlgebra()
    one.sell(Sold(room=[[1]], prices=[1]))
    one.packing.set_arrivals([])

    with pytest.raises(IndexError):
        one.place(one.ask(1), 1)


def test_where_there_is_nothing_nobody_has_a_place() -> None:
    one = PlainAlgebra()
    tally = one.packing.add_tally(None, 0, np.zeros(0, np.bool_))
    ask = one.ask(1, spread=[(tally, 1, 0, 1)])

    assert one.place(ask, 3) == 0
    assert [column.tolist() for column in one.packing.placements()] == [[], [], []]
    assert one.packing.used().shape == (0, 1)


def test_a_packing_does_not_keep_alive_whom_it_asks() -> None:
    one = PlainAlgebra([[1]])
    packing, alive = one.packing, weakref.ref(one)
    group = one.add_group(one.ask(1), 1)

    del one

    assert alive() is None
    with pytest.raises(RuntimeError, match="whoever packed has gone"):
        packing.take_turns([group], PlainPacker())


def test_a_process_that_ends_in_the_middle_of_a_solve_has_nothing_to_say() -> None:
    found = subprocess.run(
        [sys.executable, "-c", ENDS_IN_THE_MIDDLE], capture_output=True, text=True, check=True
    )

    assert (found.stdout, found.stderr) == ("", "")
