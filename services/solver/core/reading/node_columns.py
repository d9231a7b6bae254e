"""The nodes of a snapshot in columns, and their kinds: those that nothing tells apart.

Apart because there are thousands of nodes and few kinds: labels and amounts are looked at once per
node in its life, everything that is decided about nodes is decided once per kind.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import numpy as np

from libs.collections.codes import Codes
from libs.collections.numbering import Numbering
from libs.domain import labels as label_keys
from libs.domain.node import Node
from libs.domain.pod import VolumeAttachCount
from libs.domain.taint import Effect, Taint
from services.solver.core.reading.object_columns import Columned, ObjectColumns
from services.solver.core.vectors import Bools, Ints, as_room

_STARTED = {label_keys.REGISTERED: "true", label_keys.INITIALIZED: "true"}
_RENAMED = frozenset(label_keys.ALIASES.values())


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
    volume_limits: tuple[VolumeAttachCount, ...]


class NodeReader:
    """Makes columns of nodes, and remembers what was read of each node as long as it lives."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.objects: ObjectColumns[Node] = ObjectColumns()
        self.kinds: Numbering[NodeKind] = Numbering()
        self._values: Numbering[str | None] = Numbering()
        self._traits: Numbering[Hashable] = Numbering()

    def of(self, nodes: Mapping[str, Node]) -> "NodeColumns":
        """Return the columns of nodes."""
        return NodeColumns(self, nodes, self.objects.of_items(nodes))

    def values(self, key: str, nodes: Iterable[Node]) -> Iterator[int]:
        """Yield a number for the value, or none, that each node has of a label."""
        return (self._values.number(_label(node, key)) for node in nodes)

    def kinds_of(self, keys: Sequence[str], nodes: Sequence[Node]) -> Ints:
        """Return the numbers of the kinds of nodes, as far as these labels tell."""
        asked = self.objects.of(nodes)
        facts = [
            asked.column("traits", self._read_traits),
            *(asked.column(("label", key), partial(self.values, key)) for key in keys),
        ]
        first, alike = _alike(np.stack(facts))
        kinds = [self.kinds.number(_kind(nodes[one], keys)) for one in first.tolist()]
        return np.array(kinds, np.int64)[alike]

    def _read_traits(self, nodes: Iterable[Node]) -> Iterator[int]:
        return (self._traits.number(_traits(node)) for node in nodes)


class NodeColumns:
    """The nodes of a snapshot; all columns are in its order, (n,)."""

    def __init__(
        self, reader: NodeReader, nodes: Mapping[str, Node], objects: Columned[Node]
    ) -> None:
        self._reader = reader
        self._objects = objects
        self.names = tuple(nodes)

    def codes(self, name: str) -> Ints:
        """Return the codes of a property of theirs, by its name in `Node`."""
        of, codes = attrgetter(name), self._reader.codes
        return self._objects.column(name, lambda nodes: codes.of(list(map(of, nodes))))

    def has(self, name: str) -> Bools:
        """Return of which of them a property, by its name in `Node`, holds."""
        return self._objects.column(name, partial(map, attrgetter(name))).astype(np.bool_)

    def prefer_no_schedule(self) -> Bools:
        """Return which of them have a taint that pods only avoid."""
        return self._objects.column("avoided", partial(map, _is_avoided)).astype(np.bool_)

    def room(self, resource: str) -> Ints:
        """Return what of a resource is allocatable."""

        def read(nodes: Iterable[Node]) -> Iterator[int]:
            return (as_room(node.allocatable.get(resource)) for node in nodes)

        return self._objects.column(("room", resource), read)

    def kinds(self, keys: frozenset[str], rows: Ints) -> tuple[tuple[NodeKind, ...], Ints]:
        """Return the kinds of some of the nodes, as far as these labels tell, and that of each.

        In the order in which they come first.
        """
        listed = tuple(sorted(keys))
        numbers = self._objects.column(
            ("kind", listed), lambda nodes: self._reader.kinds_of(listed, nodes).tolist()
        )[rows]
        first = np.full(int(numbers.max(initial=-1)) + 1, len(rows), np.int64)
        first[numbers[::-1]] = np.arange(len(rows))[::-1]
        there = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(rows))]
        rank = np.empty(len(first), np.int64)
        rank[there] = np.arange(len(there))
        return tuple(map(self._reader.kinds.content, there.tolist())), rank[numbers]


def _label(node: Node, key: str) -> str | None:
    """Return the value of a label, aliases resolved, as the node will have it once started."""
    if key in node.migrated_labels:
        return "true"
    if not node.initialized and key in _STARTED:
        return _STARTED[key]
    labels = dict(node.labels)
    if key in labels and key not in label_keys.ALIASES:
        return labels[key]
    return label_keys.canonical_labels(labels).get(key) if key in _RENAMED else None


def _traits(node: Node) -> Hashable:
    """Return what else tells kinds apart."""
    hostname = _label(node, label_keys.HOSTNAME) is not None
    flags = node.unschedulable, node.leaving, node.initialized, hostname
    return flags, node.taints, node.volume_limits


def _kind(node: Node, keys: Sequence[str]) -> NodeKind:
    values = ((key, _label(node, key)) for key in keys)
    return NodeKind(
        labels=tuple((key, value) for key, value in values if value is not None),
        taints=node.taints,
        cordoned=node.unschedulable,
        leaving=node.leaving,
        initialized=node.initialized,
        hostname=_label(node, label_keys.HOSTNAME) is not None,
        volume_limits=node.volume_limits,
    )


def _is_avoided(node: Node) -> bool:
    return any(taint.effect is Effect.PREFER_NO_SCHEDULE for taint in node.taints)


def _alike(facts: Ints) -> tuple[Ints, Ints]:
    """Return of columns, (n_facts, n), one of each that differ, and which of these each one is."""
    order = np.lexsort(facts)
    differs = (facts[:, order[1:]] != facts[:, order[:-1]]).any(axis=0)
    number = np.cumsum(np.append(0, differs))
    alike = np.empty(len(order), np.int64)
    alike[order] = number
    first = np.empty(int(number[-1]) + 1, np.int64)
    first[number] = order
    return first, alike
