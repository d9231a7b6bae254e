"""Values by key, of which those that were asked for last are kept."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Holds up to `size` values; several threads may share it, and at worst make one twice."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: dict[K, V] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; if it is new, the one that was not asked for longest may go.

        What `make` raises is not kept.
        """
        # A dictionary keeps the order in which keys came; one that is asked for comes anew.
        value = self._held.pop(key, None)
        if value is None:
            value = make()
        self._held[key] = value
        for oldest in list(self._held)[: -self._size]:
            self._held.pop(oldest, None)
        return value
