"""What was made of objects, kept as long as these very objects live."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Generic, TypeVar
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")


class IdentityMemo(Generic[K, V]):
    """One value per object; for objects that never change.

    Several threads may share one: at worst two of them make the same value, of which one is kept.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._values: dict[int, V] = {}
        self._alive: dict[int, ref[K]] = {}
        self.made = 0
        """How often `make` was called."""

    def of(self, key: K) -> V:
        """Return the value of an object."""
        return self.of_all((key,))[0]

    def of_all(self, keys: Sequence[K]) -> list[V]:
        """Return the values of many objects, in their order."""
        values = self._values
        try:
            return list(map(values.__getitem__, map(id, keys)))
        except KeyError:
            return [values[id(key)] if id(key) in values else self._put(key) for key in keys]

    def __len__(self) -> int:
        return len(self._values)

    def _put(self, key: K) -> V:
        value = self._values[id(key)] = self._make(key)
        self._alive[id(key)] = ref(key, partial(self._forget, id(key)))
        self.made += 1
        return value

    def _forget(self, number: int, _: object) -> None:
        # Called before anything else can get this identity.
        self._values.pop(number, None)
        self._alive.pop(number, None)
