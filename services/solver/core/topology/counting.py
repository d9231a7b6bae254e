"""Counting of what is there before anything is decided: pods that run, daemons still to come.

Apart from packing, which counts the pods that it places.
"""

from collections.abc import Iterable, Mapping, Sequence

import joiner_kernel
import numpy as np

from services.solver.core.reading.bound_pods import COUNT, BoundPods, PodCounts, nodes_of, staying
from services.solver.core.standing.node_bins import positions
from services.solver.core.topology.ground import Ground
from services.solver.core.topology.tally import Tally
from services.solver.core.vectors import Ints

Counting = Mapping[int, Sequence[Tally]]
"""The tallies that count pods of a shape, by its id."""


def count_bound(
    packing: joiner_kernel.Packing, ground: Ground, counting: Counting, bound: BoundPods
) -> None:
    """Count the pods that run."""
    bin_of = positions(ground.standing.codes, bound)
    for number in counting.keys() & bound.by_shape.keys():
        pods = bound.by_shape[number]
        counted = {
            terminating: _on_bins(pods if terminating else staying(pods), bin_of)
            for terminating in {tally.terminating for tally in counting[number]}
        }
        for tally in counting[number]:
            packing.count(tally.number, *counted[tally.terminating])


def _on_bins(pods: PodCounts, bin_of: Ints) -> tuple[Ints, Ints]:
    """Return the bins of pods that are on one, and how many are there."""
    bins = bin_of[nodes_of(pods)]
    return bins[bins >= 0], pods[COUNT, bins >= 0]


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
