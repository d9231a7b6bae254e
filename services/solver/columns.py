"""What is remembered between decisions, for all threads that solve: columns, and overlays' doing.

Apart from the core because it outlives a decision. A catalogue is known by identity, not by etag:
snapshots of strangers may repeat an etag, and snapshots of one cluster share the object while it
does not change.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.collections.concurrent_list import ConcurrentList
from libs.collections.recent import Recent
from libs.domain.capacity import Catalogue
from libs.domain.nodepool import NodePool
from libs.domain.overlay import Overlaid, overlaid
from libs.domain.workload import NodeOverlay
from services.solver.core.offers.catalogue import CatalogueColumns, build
from services.solver.core.offers.market import Memory
from services.solver.core.reading.reader import Reader

_FEW = 64
"""Most templates of pools, and readers of nodes and pods, that are kept."""
_MANY = 2**14
"""Most shapes of which it is kept what they ask for."""
_OVERLAID = 8
"""Most answers that are kept of what overlays make of a cluster's catalogues."""


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """What overlays made of some catalogues, and from what."""

    pools: tuple[tuple[object, ...], ...]
    catalogues: tuple[Catalogue, ...]
    overlays: tuple[NodeOverlay, ...]
    found: Overlaid


class ColumnsCache:
    """Holds the columns of up to `size` catalogues; at worst two threads build the same ones."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: ConcurrentList[CatalogueColumns] = ConcurrentList()
        self._evaluated: ConcurrentList[_Evaluation] = ConcurrentList()
        self._reader = Reader()
        self._few = Recent(_FEW)
        self._many = Recent(_MANY)

    @property
    def memory(self) -> Memory:
        """Return what a decision asks for."""
        return Memory(
            columns_of=self.of,
            overlaid_of=self.overlaid,
            reader=self.reader,
            few=self._few.get,
            many=self._many.get,
        )

    def of(self, catalogue: Catalogue) -> CatalogueColumns:
        """Return the columns of a catalogue; if they are new, the oldest ones may go."""
        for one in self._held.range():
            if one.source is catalogue:
                return one
        built = build(catalogue)
        self._held.append(built)
        for oldest in self._held.range()[: -self._size]:
            self._held.delete(oldest)
        return built

    def reader(self) -> Reader:
        """Return what reads clusters, and knows all that it has met before."""
        if self._reader.full:
            self._reader = Reader()
        return self._reader

    def overlaid(
        self,
        pools: Iterable[NodePool],
        catalogues: Mapping[str, Catalogue],
        overlays: Iterable[NodeOverlay],
    ) -> Overlaid:
        """Return what overlays make of the catalogues, the same objects while nothing changes."""
        listed, asked = tuple(pools), tuple(overlays)
        read = tuple((one.name, one.template.labels, one.template.node_class.key) for one in listed)
        sold = tuple(catalogues.values())
        for one in self._evaluated.range():
            if (one.pools, one.overlays) == (read, asked) and _same(one.catalogues, sold):
                return one.found
        found = overlaid(listed, catalogues, asked)
        self._evaluated.append(_Evaluation(read, sold, asked, found))
        for oldest in self._evaluated.range()[:-_OVERLAID]:
            self._evaluated.delete(oldest)
        return found


def _same(some: tuple[Catalogue, ...], others: tuple[Catalogue, ...]) -> bool:
    return len(some) == len(others) and all(map(_is, some, others))


def _is(one: Catalogue, other: Catalogue) -> bool:
    return one is other
