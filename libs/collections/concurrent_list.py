"""A list that several threads may share, such as what worker threads have in common."""

import threading
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class ConcurrentList(Generic[T]):
    """A list behind one lock; each method is atomic."""

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._items = list(items)
        self._lock = threading.Lock()

    def append(self, item: T) -> None:
        """Add an item at the end."""
        with self._lock:
            self._items.append(item)

    def delete(self, item: T) -> bool:
        """Remove the first item that equals `item`; return whether there was one."""
        with self._lock:
            try:
                self._items.remove(item)
            except ValueError:
                return False
            return True

    def range(self) -> tuple[T, ...]:
        """Return the items of this moment in order; whoever visits them holds no lock."""
        with self._lock:
            return tuple(self._items)
