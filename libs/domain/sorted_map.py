"""A read-only mapping in the order of its keys that knows which one it was made from.

Apart from the plain read-only mapping because thousands of objects stay from one to the next: who
derives something of a mapping may derive it of what that came from, and of the keys that differ.

Laws:
- It never changes, and is in the order of its keys.
- Where `origin` gives another mapping, both have the very same objects but for the keys it names.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn, TypeVar
from weakref import ref

K = TypeVar("K")
V = TypeVar("V")


class SortedMap(dict[K, V]):
    """Built by `of` and `after`; a dictionary, because nothing is read as fast."""

    __slots__ = ("__weakref__", "_base", "_touched")

    _base: "ref[SortedMap[K, V]] | None"
    _touched: tuple[K, ...]

    @classmethod
    def of(cls, items: Mapping[K, V]) -> "SortedMap[K, V]":
        """Return the mapping of these items."""
        if isinstance(items, cls):
            return items
        keys: list[Any] = [*items]
        ordered = sorted(keys)
        return cls._made(items if keys == ordered else {key: items[key] for key in ordered})

    def after(self, removed: Iterable[K], put: Mapping[K, V]) -> "SortedMap[K, V]":
        """Return the mapping without some keys, and with others put in or replaced."""
        found = self._made(self)
        gone = [key for key in removed if dict.pop(found, key, None) is not None]
        is_longer = not put.keys() <= found.keys()
        dict.update(found, put)
        if is_longer:
            ordered: list[Any] = sorted(found)
            found = self._made({key: found[key] for key in ordered})
        found._base, found._touched = ref(self), (*gone, *put)
        return found

    @property
    def origin(self) -> "tuple[SortedMap[K, V], tuple[K, ...]] | None":
        """What it was made from, if that is still there, and the keys that may differ."""
        base = None if self._base is None else self._base()
        return None if base is None else (base, self._touched)

    @classmethod
    def _made(cls, items: Mapping[K, V]) -> "SortedMap[K, V]":
        found = cls(items)
        found._base, found._touched = None, ()
        return found

    def _refused(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("a sorted map never changes")

    __setitem__ = __delitem__ = __ior__ = _refused
    clear = pop = popitem = setdefault = update = _refused
