"""Sums by index and places of ids, for as many numbers as there are pods.

Apart because numpy has a way for each that is an order of magnitude faster than the plain one, as
long as the numbers are not too large.
"""

from collections.abc import Sequence

import numpy as np

from services.solver.core.vectors import Ints

_EXACT = 2**53
"""Below it floats count every integer."""
_DENSE = 16


def positions(known: Sequence[int], wanted: Ints) -> Ints:
    """Return (n,): at which place of `known`, which ascends and has all of them, each one is."""
    if not known or not len(wanted):
        return np.zeros(len(wanted), np.int64)
    if known[-1] > _DENSE * (len(known) + len(wanted)):
        return np.searchsorted(np.array(known, np.int64), wanted)
    table = np.zeros(known[-1] + 1, np.int64)
    table[np.array(known, np.int64)] = np.arange(len(known))
    return table.take(wanted)


def totals(index: Ints, kind: Ints, amounts: Ints, size: int) -> Ints:
    """Return (size, n_resources): the exact sums of what things of these kinds take, by index.

    Args:
        index: (n,).
        kind: (n,).
        amounts: (n_kinds, n_resources): none below zero.
        size: above each index.
    """
    found = np.zeros((size, amounts.shape[1]), np.int64)
    for column, of_kind in enumerate(amounts.T):
        if int(of_kind.max(initial=0)) * len(index) < _EXACT:
            weights = of_kind.astype(np.float64).take(kind)
            found[:, column] = np.bincount(index, weights=weights, minlength=size)
        else:
            np.add.at(found[:, column], index, of_kind[kind])
    return found
