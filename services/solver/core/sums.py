"""Sums by index, for as many numbers as there are pods.

Apart because numpy has a way that is an order of magnitude faster than the plain one, as long as
the numbers are not too large.
"""

import numpy as np

from services.solver.core.vectors import Ints

_EXACT = 2**53
"""Below it floats count every integer."""


def totals(index: Ints, amounts: Ints, size: int) -> Ints:
    """Return (size,): the exact sums of amounts, by index.

    Args:
        index: (n,).
        amounts: (n,).
        size: above each index.
    """
    if int(np.abs(amounts).max(initial=0)) * len(index) < _EXACT:
        return np.bincount(index, weights=amounts, minlength=size).astype(np.int64)
    found = np.zeros(size, np.int64)
    np.add.at(found, index, amounts)
    return found
