"""What the solver reads of a block of pods, as numbers.

Apart from the table because this is all that is done pod by pod, once in the life of a block.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple, TypeVar

import numpy as np

from libs.collections.codes import Codes
from libs.domain.pod import PodPhase, Target
from libs.domain.pod_table import PodBlock
from services.solver.core.bound_pods import PodCounts, pod_counts
from services.solver.core.vectors import Ints

T = TypeVar("T")

_ENDED = (PodPhase.SUCCEEDED, PodPhase.FAILED)


class LoosePods(NamedTuple):
    """Pods without a node."""

    uids: tuple[str, ...]
    gangs: tuple[str, ...]
    targets: tuple[Target | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockColumns:
    """What is known of the pods of a block that have not ended."""

    bound: PodCounts
    """Of the pods on nodes, one column for each."""
    gangs: Mapping[str, int]
    """How many of those pods, but for terminating ones, each gang has."""
    loose: LoosePods | None
    waiting: Ints
    """(3, n_loose): of those the shape's id, when they were created, and whether they wait."""


def read(block: PodBlock, codes: Codes) -> BlockColumns:
    """Return the columns of a block.

    Args:
        block: the pods.
        codes: gives nodes and owners their codes.
    """
    ended = any(phase in block.phases for phase in _ENDED)
    if not ended and "" not in block.nodes:
        return _read(block, codes, None, None)
    lives = [phase not in _ENDED for phase in block.phases]
    bound = [bool(node) and here for node, here in zip(block.nodes, lives, strict=True)]
    loose = [here and not node for node, here in zip(block.nodes, lives, strict=True)]
    return _read(block, codes, bound, loose if True in loose else None)


def _read(
    block: PodBlock, codes: Codes, bound: Sequence[bool] | None, loose: Sequence[bool] | None
) -> BlockColumns:
    """Return the columns of these pods: all for None of those on nodes, none of the others."""
    gangs = _those(block.gangs, bound)
    # Most owners are of another kind, and this is asked of every pod.
    daemonsets = [
        owner.uid if owner is not None and owner.kind == "DaemonSet" and owner.is_daemonset else ""
        for owner in _those(block.owners, bound)
    ]
    terminating = tuple(map(bool, _those(block.deleting_ms, bound)))
    counts = pod_counts(
        _those(block.shapes, bound),
        codes.of(_those(block.nodes, bound)),
        codes.of(daemonsets),
        terminating,
    )
    if loose is None:
        without, waiting = None, np.zeros((3, 0), np.int64)
    else:
        without = LoosePods(
            _those(block.uids, loose), _those(block.gangs, loose), _those(block.targets, loose)
        )
        numbers = (block.shapes, block.created_ms, block.provisionable)
        waiting = np.array([_those(column, loose) for column in numbers], np.int64)
    return BlockColumns(
        bound=counts,
        gangs=_gangs(gangs, terminating) if any(gangs) else {},
        loose=without,
        waiting=waiting,
    )


def _gangs(gangs: Sequence[str], terminating: Sequence[bool]) -> Mapping[str, int]:
    staying = (gang for gang, goes in zip(gangs, terminating, strict=True) if gang and not goes)
    return Counter(staying)


def _those(column: tuple[T, ...], selectors: Sequence[bool] | None) -> tuple[T, ...]:
    return column if selectors is None else tuple(compress(column, selectors))
