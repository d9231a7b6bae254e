"""Sets of domains as Python and the kernel tell each other of them: ints of any length and sign."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.unit.kernel.plain_algebra import PlainAlgebra, Sold

KEY = 0
HAS_LABEL = ~1
"""All numbers but that of "no such label"."""
EDGES = (1, 62, 63, 64, 65, 127, 128, 129, 200)


def _nodes(count: int, *populated: int) -> tuple[PlainAlgebra, int, int]:
    """Return nodes in a domain of their own each, numbered from 1, and two tallies of their pods.

    The first one counts a pod in each of the populated domains, the second one in none.
    """
    one = PlainAlgebra([[9]] * count)
    assert one.domains.key("rack") == KEY
    assert [one.domains.number(KEY, str(number)) for number in range(1, count + 1)][-1] == count
    one.standing_domains[KEY] = range(1, count + 1)
    some, nobody = (one.packing.add_tally(KEY, None, None) for _ in range(2))
    there = np.array(populated, np.int64)
    one.packing.count(some, there - 1, np.ones(len(there), np.int64))
    return one, some, nobody


def _bounds(one: PlainAlgebra, ask: int) -> list[tuple[int, int]]:
    where = one.packing.verdict(ask)
    assert where is not None
    return where.bounds


@pytest.mark.parametrize("populated", [(), *[(edge,) for edge in EDGES], (63, 64), (1, 128), EDGES])
def test_who_keeps_away_may_be_in_all_domains_but_the_populated_ones(
    populated: Sequence[int],
) -> None:
    one, some, _ = _nodes(200, *populated)

    found = _bounds(one, one.ask(1, apart=[(some, False)]))

    assert found == [(KEY, ~sum(1 << number for number in populated))]


@pytest.mark.parametrize("populated", [*[(edge,) for edge in EDGES], (63, 64), (1, 128), EDGES])
def test_who_wants_to_be_near_may_be_in_the_populated_domains_only(
    populated: Sequence[int],
) -> None:
    one, some, _ = _nodes(200, *populated)

    found = _bounds(one, one.ask(1, affinity=[([some], False)]))

    assert found == [(KEY, sum(1 << number for number in populated))]


def test_the_first_of_its_kind_may_be_wherever_there_is_a_label() -> None:
    one, _, nobody = _nodes(70)

    assert _bounds(one, one.ask(1, affinity=[([nobody], True)])) == [(KEY, HAS_LABEL)]


def test_bounds_of_one_key_are_met_together() -> None:
    one, some, nobody = _nodes(200, 64, 130)
    ask = one.ask(1, apart=[(some, False)], affinity=[([nobody], True)])

    assert _bounds(one, ask) == [(KEY, HAS_LABEL & ~(1 << 64) & ~(1 << 130))]


def test_bounds_without_a_domain_in_common_leave_nowhere_to_go() -> None:
    one, some, _ = _nodes(200, 64, 130)
    ask = one.ask(1, apart=[(some, False)], affinity=[([some], False)])

    assert one.packing.verdict(ask) is None


def test_standing_bins_are_held_to_bounds_beyond_the_first_words() -> None:
    one, some, _ = _nodes(200, 64, 130)
    ask = one.ask(1, affinity=[([some], False)])
    where = one.packing.verdict(ask)
    assert where is not None

    bins, counts = one.packing.room(ask, where)

    assert (bins.tolist(), counts.tolist()) == ([63, 129], [9, 9])


@pytest.mark.parametrize("number", EDGES)
def test_claims_are_narrowed_to_the_domain_that_is_meant(number: int) -> None:
    one, other = PlainAlgebra(), 199
    one.domains.key("rack")
    for value in range(1, 201):
        one.domains.number(KEY, str(value))
    one.sell(Sold(room=[[4], [4]], prices=[1, 2], domains={KEY: [number, other]}))
    shape = one.shape()
    near = one.packing.add_tally(KEY, None, None)
    one.packing.counts(near, [shape])
    ask = one.ask(1, shape=shape, spread=[(near, 1, 0, 1)])

    placed = [one.place(ask, 1) for _ in range(2)]

    assert placed == [1, 1]
    assert one.asked_bounds[0] == (KEY, 1 << number)
    assert np.flatnonzero(one.packing.counted(near)).tolist() == sorted([number, other])
