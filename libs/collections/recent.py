"""What was made lately, by key, so that it need not be made again."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

V = TypeVar("V")


class Recent:
    """Holds about `size` values; several threads may share it, and at worst make one twice."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: dict[Hashable, tuple[Any, tuple[object, ...]]] = {}

    def get(self, name: Hashable, make: Callable[[], V], *objects: object) -> V:
        """Return what was made under this name for these objects, which are known by identity.

        If it is new, those that were not asked for longest may go. What `make` raises is not kept.
        """
        key = (name, *map(id, objects))
        # A dictionary keeps the order in which keys came; one that is asked for comes anew. The
        # objects are kept, so that nothing else gets their identity.
        held = self._held.pop(key, None) or (make(), objects)
        self._held[key] = held
        if len(self._held) > self._size:
            for oldest in list(self._held)[: -self._size + self._size // 4]:
                self._held.pop(oldest, None)
        return cast("V", held[0])
