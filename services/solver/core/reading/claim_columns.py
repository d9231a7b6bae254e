"""The claims of a snapshot in columns: what is asked of all of them, of which most have a node.

Apart from nodes because of claims hardly anything is asked once there is a node.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import numpy as np

from libs.collections.codes import Codes
from libs.collections.numbering import Numbering
from libs.collections.recent import Recent
from libs.domain.nodeclaim import NodeClaim
from libs.domain.taint import Effect
from services.solver.core.reading.object_columns import Columned, ObjectColumns
from services.solver.core.vectors import Bools, Ints

_LATELY = 8
"""Most collections that are known by their own identity: each is asked about again and again."""


class ClaimReader:
    """Makes columns of claims, and remembers what was read of each claim as long as it lives."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.objects: ObjectColumns[NodeClaim] = ObjectColumns()
        self.node_classes: Numbering[str] = Numbering()
        self._lately = Recent(_LATELY)

    def of(self, claims: Mapping[str, NodeClaim]) -> "ClaimColumns":
        """Return the columns of claims."""

        def make() -> ClaimColumns:
            return ClaimColumns(self, self.objects.of_items(claims))

        return self._lately.get("", make, claims)

    def read_node_classes(self, claims: Iterable[NodeClaim]) -> Iterator[int]:
        """Yield the numbers of the claims' node classes."""
        return (self.node_classes.number(claim.node_class.key) for claim in claims)


class ClaimColumns:
    """The claims of a snapshot; all columns are in its order, (n,)."""

    def __init__(self, reader: ClaimReader, objects: Columned[NodeClaim]) -> None:
        self._reader = reader
        self._objects = objects

    def without_node(self, claimed: Ints) -> list[NodeClaim]:
        """Return the claims whose names have none of these codes, which are those of nodes."""
        codes = self._reader.codes
        own = self._objects.column("name", lambda them: codes.of([one.name for one in them]))
        has_node = np.zeros(len(codes), np.bool_)
        has_node[claimed] = True
        return [self._objects.objects[at] for at in np.flatnonzero(~has_node[own]).tolist()]

    def node_classes(self) -> frozenset[str]:
        """Return the keys of their node classes."""
        numbers = self._objects.column("class", self._reader.read_node_classes)
        there = np.flatnonzero(np.bincount(numbers)).tolist()
        return frozenset(map(self._reader.node_classes.content, there))

    def prefer_no_schedule(self) -> Bools:
        """Return which of them have a taint that pods only avoid."""
        return self._objects.column("avoided", partial(map, _is_avoided)).astype(np.bool_)


def _is_avoided(claim: NodeClaim) -> bool:
    return any(taint.effect is Effect.PREFER_NO_SCHEDULE for taint in claim.taints)
