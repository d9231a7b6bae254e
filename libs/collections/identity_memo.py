"""What was made of objects, kept as long as these very objects live."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Generic, TypeVar
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")


class IdentityMemo(Generic[K, V]):
    """One value, not None, per object; for objects that never change.

    Several threads may share one: at worst two of them make the same value, of which one is kept.
    """

    def __init__(
        self,
        make: Callable[[Sequence[K]], Iterable[V]],
        forgotten: Callable[[V], None] | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            make: gives the value of each of some objects, in their order.
            forgotten: is told, at any moment, the values of objects that are gone.
        """
        self._make = make
        self._forgotten = forgotten
        self._values: dict[int, V] = {}
        self._alive: dict[int, ref[K]] = {}
        self.made = 0
        """How many values were made."""

    def of(self, key: K) -> V:
        """Return the value of an object."""
        return self.of_all((key,))[0]

    def known(self, key: K) -> V | None:
        """Return the value of an object that has one already."""
        return self._values.get(id(key))

    def of_all(self, keys: Sequence[K]) -> list[V]:
        """Return the values of many objects, in their order."""
        try:
            return list(map(self._values.__getitem__, map(id, keys)))
        except KeyError:
            self._make_missing(keys)
            return list(map(self._values.__getitem__, map(id, keys)))

    def __len__(self) -> int:
        return len(self._values)

    def _make_missing(self, keys: Sequence[K]) -> None:
        missing = {id(key): key for key in keys if id(key) not in self._values}
        for key, value in zip(missing.values(), self._make([*missing.values()]), strict=True):
            self._values[id(key)] = value
            self._alive[id(key)] = ref(key, partial(self._forget, id(key)))
        self.made += len(missing)

    def _forget(self, number: int, _: object) -> None:
        # Called before anything else can get this identity.
        value = self._values.pop(number, None)
        self._alive.pop(number, None)
        if value is not None and self._forgotten is not None:
            self._forgotten(value)
