"""Which pod is scheduled next, and which wait for a change of the cluster.

Law: of the pods ready to be tried, the one with the highest priority comes first, then the oldest,
then the one seen first.

Source: Kubernetes documentation, "Pod Priority and Preemption".
"""

import heapq
from collections.abc import Mapping
from itertools import count
from typing import Any, NamedTuple

DEFAULT_SCHEDULER = "default-scheduler"


class _Entry(NamedTuple):
    rank: tuple[int, str, int]
    key: str


class SchedulingQueue:
    """Pods by key: ready to be tried, or parked until something changes."""

    def __init__(self) -> None:
        self._ready: dict[str, _Entry] = {}
        self._heap: list[_Entry] = []
        self._parked: dict[str, bool] = {}
        self._seen: dict[str, tuple[str, int]] = {}
        self._order = count()

    def __len__(self) -> int:
        return len(self._ready)

    def push(self, key: str, pod: Mapping[str, Any], priority: int) -> None:
        """Let a pod be tried."""
        meta = pod["metadata"]
        uid, order = self._seen.get(key, ("", 0))
        if uid != meta["uid"]:
            order = next(self._order)
            self._seen[key] = (meta["uid"], order)
        entry = _Entry((-priority, meta["creationTimestamp"], order), key)
        self._parked.pop(key, None)
        self._ready[key] = entry
        heapq.heappush(self._heap, entry)

    def pop(self) -> str | None:
        """Remove and return the key of the pod to be tried next."""
        while self._heap:
            entry = heapq.heappop(self._heap)
            if self._ready.get(entry.key) == entry:
                del self._ready[entry.key]
                return entry.key
        return None

    def park(self, key: str, *, sociable: bool) -> None:
        """Keep a pod that found no place; a sociable one may be helped by other pods' binding."""
        self._ready.pop(key, None)
        self._parked[key] = sociable

    def parked(self, *, only_sociable: bool) -> list[str]:
        """Return the keys of the parked pods."""
        return [key for key, sociable in self._parked.items() if sociable or not only_sociable]

    def drop(self, key: str) -> None:
        """Forget a pod."""
        self._ready.pop(key, None)
        self._parked.pop(key, None)
        self._seen.pop(key, None)
