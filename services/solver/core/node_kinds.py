"""Kinds of nodes: those that nothing tells apart which any pod asks about.

Apart because there are thousands of nodes and few kinds: labels and amounts are looked at once per
node in its life, everything that is decided about nodes is decided once per kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from libs.collections.identity_memo import IdentityMemo
from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.pod import PodShape, VolumeAttachCount
from libs.domain.taint import Taint
from services.solver.core.vectors import Dimensions, Ints

_SPARE = 1000
_STARTED = {label_keys.REGISTERED: "true", label_keys.INITIALIZED: "true"}


def as_started(labels: dict[str, str]) -> dict[str, str]:
    """Return the labels that whatever is on its start will have when pods come to it."""
    return labels | _STARTED


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """What is asked about a node."""

    labels: tuple[tuple[str, str], ...]
    """Aliases resolved; only keys that were asked about, in order."""
    taints: tuple[Taint, ...]
    cordoned: bool
    leaving: bool
    initialized: bool
    hostname: bool
    """Whether it has the hostname label."""
    room: tuple[int, ...]
    """What is allocatable, by the dimensions that were asked about."""
    volume_limits: tuple[VolumeAttachCount, ...]


class NodeReader:
    """Tells the kinds of nodes, and remembers that of each node as long as the node lives."""

    def __init__(self, keys: frozenset[str], dimensions: Dimensions) -> None:
        self._keys = sorted(keys)
        self._dimensions = dimensions
        self._kinds: dict[NodeKind, NodeKind] = {}
        self.nodes: IdentityMemo[Node, NodeKind] = IdentityMemo(self._read)

    def of(self, nodes: Sequence[Node]) -> tuple[tuple[NodeKind, ...], Ints]:
        """Return the kinds that there are, in order of first appearance, and (n,) that of each."""
        found = self.nodes.of_all(nodes)
        if len(self._kinds) > 2 * len(self.nodes) + _SPARE:
            self._kinds = {kind: kind for kind in found}
        ids = np.fromiter(map(id, found), np.int64, count=len(found))
        _, first, kind_of = np.unique(ids, return_index=True, return_inverse=True)
        # By first appearance: identities are no order.
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return tuple(map(found.__getitem__, first[order].tolist())), rank[kind_of]

    def _read(self, node: Node) -> NodeKind:
        labels = label_keys.canonical_labels(dict(node.labels))
        if not node.initialized:
            labels = as_started(labels)
        labels |= dict.fromkeys(node.migrated_labels, "true")
        kind = NodeKind(
            labels=tuple((key, labels[key]) for key in self._keys if key in labels),
            taints=node.taints,
            cordoned=node.unschedulable,
            leaving=node.leaving,
            initialized=node.initialized,
            hostname=label_keys.HOSTNAME in labels,
            room=tuple(self._dimensions.room(node.allocatable).tolist()),
            volume_limits=node.volume_limits,
        )
        return self._kinds.setdefault(kind, kind)


def request_vectors(dimensions: Dimensions) -> IdentityMemo[PodShape, tuple[int, ...]]:
    """Return what tells, and remembers, what pods of a shape request by these dimensions."""
    return IdentityMemo(lambda shape: tuple(dimensions.requests(shape.requests).tolist()))
