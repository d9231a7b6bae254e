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
    found: Ints = table[wanted]
    return found


def summed(index: Ints, values: Ints, size: int) -> Ints:
    """Return (size,): the exact sums of values, none of them below zero, by index."""
    if int(values.max(initial=0)) * len(values) < _EXACT:
        return np.bincount(index, weights=values, minlength=size).astype(np.int64)
    found = np.zeros(size, np.int64)
    np.add.at(found, index, values)
    return found
