"""Counting of what is there before anything is decided: pods that run, daemons still to come.

Apart from `topology.py`, which counts the pods that are placed.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from services.solver.core.ground import Ground
from services.solver.core.tally import Tally
from services.solver.core.vectors import Ints
from services.solver.core.workload import BoundPods

Counting = Mapping[int, Sequence[Tally]]
"""The tallies that count pods of a shape, by its id."""


def count_bound(ground: Ground, counting: Counting, bound: BoundPods) -> None:
    """Count the pods that run."""
    bin_of = np.array([ground.standing.index.get(name, -1) for name in bound.nodes], np.int64)
    order = np.argsort(bound.shape, kind="stable")
    ends = np.searchsorted(bound.shape[order], np.arange(len(bound.shapes) + 1))
    for number, shape in enumerate(bound.shapes):
        rows = order[ends[number] : ends[number + 1]]
        bins = bin_of[bound.node[rows]]
        for tally in counting.get(shape.id, ()):
            counted = bins >= 0
            if not tally.terminating:
                counted = counted & ~bound.terminating[rows]
            _count(ground, tally, bins[counted], bound.count[rows][counted])


def count_daemons(ground: Ground, counting: Counting, daemons: Iterable[int]) -> None:
    """Count the daemons, by ids of their shapes, that are still to come to standing bins."""
    for number in daemons:
        bins = np.array(
            [at for at, coming in enumerate(ground.standing.daemons) if number in coming], np.int64
        )
        for tally in counting.get(number, ()):
            decided = bins
            if not tally.on_hosts:
                decided = bins[ground.domain_of(tally.key)[bins] > 0]
            _count(ground, tally, decided, np.ones(len(decided), np.int64))


def _count(ground: Ground, tally: Tally, bins: Ints, counts: Ints) -> None:
    """Count pods on standing bins, (n,), so many each, (n,)."""
    has_key = (
        ground.standing.hostnames[bins]
        if tally.on_hosts
        else ground.domain_of(tally.key)[bins] != 0
    )
    tally.total += int(counts[has_key].sum())
    if tally.admitted is not None:
        has_key = has_key & tally.admitted[bins]
    bins, counts = bins[has_key], counts[has_key]
    if tally.on_hosts:
        np.add.at(tally.hosts(len(ground.standing)), bins, counts)
        return
    numbers = ground.domain_of(tally.key)[bins].tolist()
    for number, count in zip(numbers, counts.tolist(), strict=True):
        tally.by_domain[number] += count
