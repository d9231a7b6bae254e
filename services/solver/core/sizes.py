"""Sizes: which pools have any type with room for a pod, all of them asked at once.

Apart because it is the cheapest question about a pool and the first one: of hundreds of pools that
are all too small none is looked at more closely.
"""

from collections.abc import Sequence

import numpy as np

from services.solver.core.vectors import Ints, covering


class Sizes:
    """The largest rooms of some pools."""

    __slots__ = ("_known", "_pool", "_rooms")

    def __init__(self, frontiers: Sequence[Ints]) -> None:
        """Take of each pool (n, n_resources): what fits in one of these rows fits on some type."""
        self._rooms = np.concatenate(frontiers) if frontiers else np.zeros((0, 0), np.int64)
        self._pool = np.repeat(np.arange(len(frontiers)), [len(one) for one in frontiers])
        self._known: dict[bytes, list[int]] = {}

    def suiting(self, request: Ints) -> list[int]:
        """Return which pools have a type with room for a request, (n_resources,), in order."""
        name = request.tobytes()
        found = self._known.get(name)
        if found is None:
            pools = self._pool[covering(self._rooms, request)] if len(self._pool) else self._pool
            found = self._known[name] = np.unique(pools).tolist()
        return found
