"""Counting of what is there before anything is decided: pods that run, daemons still to come.

Apart from packing, which counts the pods that it places.
"""

from collections.abc import Iterable, Mapping, Sequence

import joiner_kernel
import numpy as np

from services.solver.core.reading.bound_pods import COUNT, BoundPods, nodes_of, staying
from services.solver.core.standing.node_bins import positions
from services.solver.core.topology.ground import Ground
from services.solver.core.topology.tally import Tally

Counting = Mapping[int, Sequence[Tally]]
"""The tallies that count pods of a shape, by its id."""


def count_bound(
    packing: joiner_kernel.Packing, ground: Ground, counting: Counting, bound: BoundPods
) -> None:
    """Count the pods that run."""
    bin_of = positions(ground.standing.codes, bound)
    for number in counting.keys() & bound.by_shape.keys():
        for tally in counting[number]:
            counts = bound.by_shape[number]
            counts = counts if tally.terminating else staying(counts)
            bins = bin_of[nodes_of(counts)]
            packing.count(tally.number, bins[bins >= 0], counts[COUNT, bins >= 0])


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
