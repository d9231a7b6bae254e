"""A list that several threads may share: for results collected by worker threads."""

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class ConcurrentList(Generic[T]):
    """A list behind one lock; each method is atomic.

    `range` holds the lock while it visits, so a visitor must not call the list it visits.
    """

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

    def range(self, visit: Callable[[T], bool]) -> None:
        """Call `visit` with each item in order until it returns False."""
        with self._lock:
            for item in self._items:
                if not visit(item):
                    return

    def __len__(self) -> int:
        with self._lock:
            return len(self._items)
