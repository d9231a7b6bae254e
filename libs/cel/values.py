"""The values of CEL, their types, and what it means that two are equal.

CEL → Python: int → int, double → float, bool → bool, string → str, bytes → bytes, null → None, list
→ list or `KeyedList`, map and object → dict, timestamp → datetime, duration → timedelta; the rest
are the classes here.

Laws: an operation that has no answer raises `CelError` in the words of Kubernetes' evaluator
(cel-go); `Poison` is a field whose value does not fit its schema: it may lie anywhere in the data
and hurts only who reads it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""A CEL value, as the module's docstring lists them."""


MOST_ITEMS = 2**16
"""Most characters, bytes or items that an operation may put together."""


class CelError(Exception):
    """The expression has no value for this input."""


def check_size(items: int) -> None:
    """Raise `CelError` for a value of more than `MOST_ITEMS` characters, bytes or items."""
    if items > MOST_ITEMS:
        raise CelError("operation cancelled: actual cost limit exceeded")


@dataclass(frozen=True, slots=True, kw_only=True)
class UInt:
    """An unsigned integer, a type of its own in CEL."""

    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeValue:
    """A type as a value: what `type(x)` gives."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalValue:
    """`optional.of(value)`, or `optional.none()` where `present` is false."""

    present: bool
    value: Any = None


NONE = OptionalValue(present=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A Kubernetes quantity, exact."""

    number: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Semver:
    """A semantic version, without its build metadata, which has no part in any comparison."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMap:
    """A map that has an empty map for every key that is asked for; `in` and size know the rest."""

    items: dict[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedList:
    """A list whose order does not count: of list-type `set` (`keys` empty) or `map`."""

    items: list[Any]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison:
    """Data that does not fit its schema; reading it raises `CelError(message)`."""

    message: str


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (KeyedList, "list"),
    (dict, "map"),
    (OpenMap, "map"),
    (datetime, "google.protobuf.Timestamp"),
    (timedelta, "google.protobuf.Duration"),
    (UInt, "uint"),
    (OptionalValue, "optional_type"),
    (Quantity, "kubernetes.Quantity"),
    (Semver, "kubernetes.Semver"),
    (TypeValue, "type"),
)


def type_name(value: Value) -> str:
    """Return CEL's name of the value's type."""
    if value is None:
        return "null_type"
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    raise CelError("no such overload")


def read(value: Value) -> Value:
    """Return the value, unless it is poison."""
    if type(value) is Poison:
        raise CelError(value.message)
    return value


def as_list(value: Value) -> list[Any]:
    """Return a list's items; raises `CelError` for anything else."""
    if type(value) is list:
        return value
    if type(value) is KeyedList:
        return value.items
    raise CelError("no such overload")


def equal(left: Value, right: Value) -> bool:
    """Return whether two values are equal: numbers by value, others only within a type."""
    left, right = read(left), read(right)
    if is_number(left) and is_number(right):
        return bool(number(left) == number(right))
    if type(left) is KeyedList and type(right) is KeyedList:
        return _equal_unordered(left, right)
    if isinstance(left, list | KeyedList) and isinstance(right, list | KeyedList):
        return _equal_lists(as_list(left), as_list(right))
    if type(left) is dict and type(right) is dict:
        return len(left) == len(right) and all(
            key in right and equal(item, right[key]) for key, item in left.items()
        )
    if type(left) is not type(right):
        if type(left) is Semver:
            # cel-go asks the left side, and its versions know only versions.
            raise CelError("no such overload")
        return False
    if type(left) is OptionalValue:
        return left.present == right.present and equal(left.value, right.value)
    return bool(left == right)


def is_number(value: Value) -> bool:
    """Return whether the value is an int, uint or double."""
    return type(value) in (int, float, UInt)


def number(value: Value) -> int | float:
    """Return the plain number of an int, uint or double."""
    plain: int | float = value.value if type(value) is UInt else value
    return plain


def _equal_lists(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(map(equal, left, right))


def _equal_unordered(left: KeyedList, right: KeyedList) -> bool:
    if len(left.items) != len(right.items):
        return False
    same: Callable[[Any, Any], bool] = equal
    if left.keys:
        indexed = {map_key(item, left.keys): item for item in right.items}
        return all(
            (key := map_key(item, left.keys)) in indexed and equal(item, indexed[key])
            for item in left.items
        )
    return all(any(same(item, other) for other in right.items) for item in left.items)


def map_key(item: Value, keys: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what tells an item of a list-type `map` from the others."""
    return tuple(item.get(key) if type(item) is dict else None for key in keys)
