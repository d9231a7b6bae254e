"""What the solver reads of a block of pods, as numbers.

Apart from the table because this is all that is done pod by pod, once in the life of a block.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np

from libs.collections.codes import Codes
from libs.domain.pod import PodPhase, Target
from libs.domain.pod_table import PodBlock
from services.solver.core.reading.bound_pods import PodCounts, pod_counts
from services.solver.core.vectors import Bools, Ints

_ENDED = (PodPhase.SUCCEEDED, PodPhase.FAILED)


class LoosePods(NamedTuple):
    """Pods without a node."""

    uids: tuple[str, ...]
    gangs: tuple[str, ...]
    targets: tuple[Target | None, ...]
    numbers: Ints
    """(3, n): the id of the shape, when each was created, and whether it waits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockColumns:
    """What is known of the pods of a block that have not ended."""

    bound: PodCounts
    """Of the pods on nodes, one column for each."""
    gangs: Mapping[str, int]
    """How many of those pods, but for terminating ones, each gang has."""
    loose: LoosePods | None


def read(block: PodBlock, codes: Codes) -> BlockColumns:
    """Return the columns of a block.

    Args:
        block: the pods.
        codes: gives nodes and owners their codes.
    """
    nodes = _ints(codes.of(block.nodes))
    bound, loose = nodes != 0, nodes == 0
    if any(phase in block.phases for phase in _ENDED):
        lives = np.array([phase not in _ENDED for phase in block.phases], np.bool_)
        bound, loose = bound & lives, loose & lives
    terminating = _ints([bool(at) for at in block.deleting_ms])
    counts = pod_counts(_ints(block.shapes), nodes, _daemonsets(block, codes), terminating)
    return BlockColumns(
        bound=counts if bound.all() else counts[:, bound],
        gangs=_gangs(block, bound & (terminating == 0)) if any(block.gangs) else {},
        loose=_loose(block, loose.tolist()) if loose.any() else None,
    )


def _daemonsets(block: PodBlock, codes: Codes) -> Ints:
    # Most owners are of another kind, and this is asked of every pod.
    uids = [
        owner.uid if owner is not None and owner.kind == "DaemonSet" and owner.is_daemonset else ""
        for owner in block.owners
    ]
    return _ints(codes.of(uids))


def _gangs(block: PodBlock, counted: Bools) -> Mapping[str, int]:
    return Counter(gang for gang in compress(block.gangs, counted.tolist()) if gang)


def _loose(block: PodBlock, loose: Sequence[bool]) -> LoosePods:
    numbers = (block.shapes, block.created_ms, block.provisionable)
    return LoosePods(
        uids=tuple(compress(block.uids, loose)),
        gangs=tuple(compress(block.gangs, loose)),
        targets=tuple(compress(block.targets, loose)),
        numbers=np.array([tuple(compress(column, loose)) for column in numbers], np.int64),
    )


def _ints(column: Sequence[int]) -> Ints:
    return np.fromiter(column, np.int64, count=len(column))
