"""Running pods as they would be after commands: some gone with their nodes, some at new places.

Apart because these counts change with every command that is tried.
"""

from collections.abc import Iterable, Set

import numpy as np

from libs.domain.pod import PodShape
from services.solver.core.reading.bound_pods import COUNT, BoundPods, less, nodes_of, pod_counts

Moved = tuple[PodShape, str, int]
"""So many pods of one shape, and the node where they run from now on."""


def without_nodes(bound: BoundPods, gone: Set[str]) -> BoundPods:
    """Return the pods that are left if these nodes go, daemons and all."""
    codes = bound.codes.of(sorted(gone))
    counts = bound.counts
    return bound.after(less(counts[:, np.isin(nodes_of(counts), codes)]), {})


def with_pods(bound: BoundPods, moved: Iterable[Moved]) -> BoundPods:
    """Return the pods with others that have come."""
    coming = tuple(moved)
    codes = bound.codes.of([node for _, node, _ in coming])
    shapes = np.array([shape.id for shape, _, _ in coming], np.int64)
    none = np.zeros(len(coming), np.int64)
    changes = pod_counts(shapes, np.array(codes, np.int64), none, none)
    changes[COUNT] = [count for _, _, count in coming]
    return bound.after(changes, {shape.id: shape for shape, _, _ in coming})
