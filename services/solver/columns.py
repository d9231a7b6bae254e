"""Columns of the catalogues that were asked about last, for all threads that solve.

Apart from the core because it outlives a decision. A catalogue is known by identity, not by etag:
snapshots of strangers may repeat an etag, and snapshots of one cluster share the object while it
does not change.
"""

from libs.collections.concurrent_list import ConcurrentList
from libs.domain.capacity import Catalogue
from services.solver.core.catalogue import CatalogueColumns, build


class ColumnsCache:
    """Holds the columns of up to `size` catalogues; at worst two threads build the same ones."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: ConcurrentList[CatalogueColumns] = ConcurrentList()

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
