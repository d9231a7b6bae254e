"""CEL's functions on lists: Kubernetes' list library and the sets extension."""

from collections.abc import Callable, Mapping
from functools import cmp_to_key, reduce
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from libs.cel import strings
from libs.cel.operators import add, compare
from libs.cel.values import CelError, Value, as_list, equal


def set_contains(whole: Value, part: Value) -> bool:
    """Return whether every item of `part` is in `whole`."""
    return all(_index(whole, item) >= 0 for item in as_list(part))


def set_equivalent(left: Value, right: Value) -> bool:
    """Return whether two lists have the same items, whatever their order and number."""
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: Value, right: Value) -> bool:
    """Return whether two lists share an item."""
    return any(_index(left, item) >= 0 for item in as_list(right))


def _index(items: Value, wanted: Value) -> int:
    return next((at for at, item in enumerate(as_list(items)) if equal(item, wanted)), -1)


def _index_of(target: Value, *arguments: Value) -> int:
    if isinstance(target, str):
        return strings.index_of(target, *arguments)
    return _index(target, arguments[0])


def _last_index_of(target: Value, *arguments: Value) -> int:
    if isinstance(target, str):
        return strings.last_index_of(target, *arguments)
    reverse = _index(as_list(target)[::-1], arguments[0])
    return -1 if reverse < 0 else len(as_list(target)) - 1 - reverse


def _is_sorted(items: Value) -> bool:
    values = as_list(items)
    return all(compare(a, b) <= 0 for a, b in pairwise(values))


def _sum(items: Value) -> Value:
    values = as_list(items)
    return reduce(add, values) if values else 0


def _extreme(name: str, pick: Callable[..., Any]) -> Callable[[Value], Value]:
    def extreme(items: Value) -> Value:
        values = as_list(items)
        if not values:
            raise CelError(f"{name} called on empty list")
        return pick(values, key=cmp_to_key(compare))

    return extreme


MEMBERS: Mapping[str, tuple[frozenset[int], Callable[..., Any]]] = MappingProxyType(
    {
        "indexOf": (frozenset({2, 3}), _index_of),
        "lastIndexOf": (frozenset({2, 3}), _last_index_of),
        "isSorted": (frozenset({1}), _is_sorted),
        "sum": (frozenset({1}), _sum),
        "min": (frozenset({1}), _extreme("min", min)),
        "max": (frozenset({1}), _extreme("max", max)),
    }
)
