"""What the solver reads of a block of pods, as numbers.

Apart from the table because this is all that is done pod by pod, once in the life of a block.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress, pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from libs.collections.codes import Codes
from libs.domain.pod import PodPhase
from libs.domain.pod_table import PodBlock
from services.solver.core.reading.bound_pods import PodCounts, picked, pod_counts
from services.solver.core.reading.loose_pods import NONE_LOOSE, LoosePods
from services.solver.core.vectors import Bools, Ints

_ENDED = (PodPhase.SUCCEEDED, PodPhase.FAILED)
_OF_LOOSE = ("created_ms", "provisionable", "priorities")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockColumns:
    """What is known of the pods of a block that have not ended."""

    bound: PodCounts
    """Of the pods on nodes, one column for each."""
    gangs: Mapping[str, int]
    """How many of those pods, but for terminating ones, each gang has."""
    loose: LoosePods


def read(blocks: Sequence[PodBlock], codes: Codes) -> list[BlockColumns]:
    """Return the columns of each of some blocks, which are read together: numpy likes it long.

    Args:
        blocks: the pods.
        codes: gives nodes and owners their codes.
    """
    nodes = _ints(codes.of([*_column(blocks, "nodes")]))
    lives = _lives(blocks)
    bound, loose = (nodes != 0) & lives, (nodes == 0) & lives
    shapes, terminating = _numbers(blocks, "shapes"), _numbers(blocks, "deleting_ms") != 0
    counts = pod_counts(shapes, nodes, _daemonsets(blocks, codes), terminating)
    counted = bound & ~terminating
    numbers = np.stack([shapes, *(_numbers(blocks, name) for name in _OF_LOOSE)])
    spans = pairwise(accumulate(map(len, blocks), initial=0))
    # Everything that is kept is a copy: a block lives long after those that it was read with.
    return [
        BlockColumns(
            bound=picked(counts[:, begin:end], bound[begin:end]),
            gangs=_gangs(block, counted[begin:end]) if any(block.gangs) else {},
            loose=_loose(block, loose[begin:end], numbers[:, begin:end]),
        )
        for block, (begin, end) in zip(blocks, spans, strict=True)
    ]


def _lives(blocks: Sequence[PodBlock]) -> Bools:
    """Return of which of all pods the containers have not ended."""
    if not any(phase in block.phases for block in blocks for phase in _ENDED):
        return np.ones(sum(map(len, blocks)), np.bool_)
    return np.array([phase not in _ENDED for phase in _column(blocks, "phases")], np.bool_)


def _daemonsets(blocks: Sequence[PodBlock], codes: Codes) -> Ints:
    # Most owners are of another kind, and this is asked of every pod.
    uids = [
        owner.uid if owner is not None and owner.kind == "DaemonSet" and owner.is_daemonset else ""
        for owner in _column(blocks, "owners")
    ]
    return _ints(codes.of(uids))


def _gangs(block: PodBlock, counted: Bools) -> Mapping[str, int]:
    return Counter(gang for gang in compress(block.gangs, counted.tolist()) if gang)


def _loose(block: PodBlock, loose: Bools, numbers: Ints) -> LoosePods:
    if not loose.any():
        return NONE_LOOSE
    which = loose.tolist()
    return LoosePods(
        uids=tuple(compress(block.uids, which)),
        gangs=tuple(compress(block.gangs, which)),
        targets=tuple(compress(block.targets, which)),
        nominated=tuple(compress(block.nominated, which)),
        numbers=picked(numbers, loose),
    )


def _column(blocks: Sequence[PodBlock], name: str) -> Iterator[Any]:
    return chain.from_iterable(map(attrgetter(name), blocks))


def _numbers(blocks: Sequence[PodBlock], name: str) -> Ints:
    return _ints([*_column(blocks, name)])


def _ints(column: Sequence[int]) -> Ints:
    return np.fromiter(column, np.int64, count=len(column))
