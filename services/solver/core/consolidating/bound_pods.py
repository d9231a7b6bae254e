"""Running pods as they would be after commands: some gone with their nodes, some at new places.

Apart because these columns change with every command that is tried.
"""

from collections.abc import Iterable, Set

import numpy as np

from libs.domain.pod import PodShape
from services.solver.core.workload import BoundPods

Moved = tuple[PodShape, str, int]
"""So many pods of one shape, and the node where they run from now on."""


def counted(bound: BoundPods) -> BoundPods:
    """Return the same pods in as few rows as there can be."""
    rows = np.stack([bound.shape, bound.node, bound.terminating], axis=1).astype(np.int64)
    found, place = np.unique(rows, axis=0, return_inverse=True)
    count = np.zeros(len(found), np.int64)
    np.add.at(count, place.reshape(-1), bound.count)
    return BoundPods(
        shapes=bound.shapes,
        nodes=bound.nodes,
        shape=found[:, 0],
        node=found[:, 1],
        count=count,
        terminating=found[:, 2] > 0,
    )


def without_nodes(bound: BoundPods, gone: Set[str]) -> BoundPods:
    """Return the pods that are left if these nodes go, daemons and all."""
    stays = np.array([name not in gone for name in bound.nodes], np.bool_)
    rows = np.flatnonzero(stays[bound.node]) if len(bound.nodes) else bound.node
    # A shape without pods must not be there: its volumes would still count as in use.
    shapes, shape = np.unique(bound.shape[rows], return_inverse=True)
    nodes, node = np.unique(bound.node[rows], return_inverse=True)
    return BoundPods(
        shapes=tuple(bound.shapes[one] for one in shapes.tolist()),
        nodes=tuple(bound.nodes[one] for one in nodes.tolist()),
        shape=shape.astype(np.int64),
        node=node.astype(np.int64),
        count=bound.count[rows],
        terminating=bound.terminating[rows],
    )


def with_pods(bound: BoundPods, moved: Iterable[Moved]) -> BoundPods:
    """Return the pods with others that have come."""
    coming = tuple(moved)
    if not coming:
        return bound
    shapes = {shape.id: position for position, shape in enumerate(bound.shapes)}
    nodes = {name: position for position, name in enumerate(bound.nodes)}
    by_id = {shape.id: shape for shape in bound.shapes}
    for shape, node, _ in coming:
        shapes.setdefault(shape.id, len(shapes))
        by_id.setdefault(shape.id, shape)
        nodes.setdefault(node, len(nodes))
    return BoundPods(
        shapes=tuple(by_id[number] for number in shapes),
        nodes=tuple(nodes),
        shape=np.append(bound.shape, [shapes[shape.id] for shape, _, _ in coming]),
        node=np.append(bound.node, [nodes[node] for _, node, _ in coming]),
        count=np.append(bound.count, [count for _, _, count in coming]),
        terminating=np.append(bound.terminating, np.zeros(len(coming), np.bool_)),
    )
