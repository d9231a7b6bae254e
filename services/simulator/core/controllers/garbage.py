"""The API server's garbage collector as a part: dependents without owner, dying namespaces."""

from datetime import datetime

from services.simulator.core.api.garbage import GarbageCollector
from services.simulator.core.api.store import Store
from services.simulator.core.part import Outcome


class Garbage:
    """Collects once per step; its own deletions cause the next step."""

    name = "garbage"

    def __init__(self, store: Store) -> None:
        self._storage = store.storage
        self._collector = GarbageCollector(store)
        self._seen = 0

    def step(self, _now: datetime) -> Outcome:
        """Delete what nobody holds any more."""
        if self._storage.revision != self._seen:
            self._seen = self._storage.revision
            self._collector.collect_garbage()
        return Outcome()
