"""Counting of what is there before anything is decided: pods that run, daemons still to come.

Apart from packing, which counts the pods that it places.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

import joiner_kernel
import numpy as np

from services.solver.core.ground import Ground
from services.solver.core.tally import Tally
from services.solver.core.workload import BoundPods

Counting = Mapping[int, Sequence[Tally]]
"""The tallies that count pods of a shape, by its id."""


def count_bound(
    packing: joiner_kernel.Packing, ground: Ground, counting: Counting, bound: BoundPods
) -> None:
    """Count the pods that run."""
    counted = np.array([bool(counting.get(one.id)) for one in bound.shapes], np.bool_)
    if not counted.any():
        return
    of_interest = np.flatnonzero(counted[bound.shape])
    positions = map(ground.standing.index.get, bound.nodes, repeat(-1))
    bin_of = np.fromiter(positions, np.int64, count=len(bound.nodes))
    order = of_interest[np.argsort(bound.shape[of_interest], kind="stable")]
    ends = np.searchsorted(bound.shape[order], np.arange(len(bound.shapes) + 1))
    for number in np.flatnonzero(counted).tolist():
        rows = order[ends[number] : ends[number + 1]]
        bins = bin_of[bound.node[rows]]
        for tally in counting[bound.shapes[number].id]:
            seen = bins >= 0
            if not tally.terminating:
                seen = seen & ~bound.terminating[rows]
            packing.count(tally.number, bins[seen], bound.count[rows][seen])


def count_daemons(
    packing: joiner_kernel.Packing, ground: Ground, counting: Counting, daemons: Iterable[int]
) -> None:
    """Count the daemons, by ids of their shapes, that are still to come to standing bins."""
    for number in daemons:
        bins = np.array(
            [at for at, coming in enumerate(ground.standing.daemons) if number in coming], np.int64
        )
        for tally in counting.get(number, ()):
            packing.count(tally.number, bins, np.ones(len(bins), np.int64))
