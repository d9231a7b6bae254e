"""CEL's operators on values: arithmetic, comparison, membership.

Source: "List of Standard Definitions" of the CEL language definition. Integers are 64 bits wide and
never wrap.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from libs.cel import semver
from libs.cel.values import (
    NONE,
    CelError,
    KeyedList,
    OpenMap,
    OptionalValue,
    Quantity,
    Semver,
    UInt,
    Value,
    as_list,
    check_size,
    equal,
    is_number,
    map_key,
    number,
    read,
)

_INT_MIN, _INT_MAX, _UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1

_NO_OVERLOAD = "no such overload"


def checked_int(value: int) -> int:
    """Return the integer; raises `CelError` beyond 64 bits."""
    if not _INT_MIN <= value <= _INT_MAX:
        raise CelError("integer overflow")
    return value


def checked_uint(value: int) -> UInt:
    """Return the unsigned integer; raises `CelError` beyond 64 bits."""
    if not 0 <= value <= _UINT_MAX:
        raise CelError("unsigned integer overflow")
    return UInt(value=value)


def add(left: Value, right: Value) -> Value:
    """Return `left + right`."""
    match left, right:
        case (str(), str()) | (bytes(), bytes()):
            check_size(len(left) + len(right))
            return left + right
        case (list() | KeyedList(), list() | KeyedList()):
            return _concatenate(left, right)
        case (datetime() | timedelta(), timedelta()) | (timedelta(), datetime()):
            return left + right
        case _:
            return _arithmetic(left, right, lambda a, b: a + b)


def subtract(left: Value, right: Value) -> Value:
    """Return `left - right`."""
    match left, right:
        case (datetime(), datetime() | timedelta()) | (timedelta(), timedelta()):
            return left - right
        case _:
            return _arithmetic(left, right, lambda a, b: a - b)


def multiply(left: Value, right: Value) -> Value:
    """Return `left * right`."""
    return _arithmetic(left, right, lambda a, b: a * b)


def divide(left: Value, right: Value) -> Value:
    """Return `left / right`; integers truncate towards zero."""
    if type(left) is float and type(right) is float and right == 0:
        return _divided_by_zero(left, right)
    return _arithmetic(left, right, _quotient)


def modulo(left: Value, right: Value) -> Value:
    """Return `left % right`, with the sign of `left`."""
    if type(left) is float or type(right) is float:
        raise CelError(_NO_OVERLOAD)
    return _arithmetic(left, right, _remainder)


def negate(operand: Value) -> Value:
    """Return `-operand`."""
    match operand:
        case bool():
            raise CelError(_NO_OVERLOAD)
        case int():
            return checked_int(-operand)
        case float() | timedelta():
            return -operand
        case _:
            raise CelError(_NO_OVERLOAD)


def invert(operand: Value) -> bool:
    """Return `!operand`."""
    if type(operand) is not bool:
        raise CelError(_NO_OVERLOAD)
    return not operand


def compare(left: Value, right: Value) -> int:
    """Return -1, 0 or 1; raises `CelError` where there is no order between the two."""
    if is_number(left) and is_number(right):
        left, right = number(left), number(right)
    elif type(left) is not type(right) or not isinstance(
        left, bool | str | bytes | datetime | timedelta | Quantity | Semver
    ):
        raise CelError(_NO_OVERLOAD)
    if isinstance(left, Quantity):
        left, right = left.number, right.number
    if isinstance(left, Semver):
        left, right = semver.order(left), semver.order(right)
    return int(left > right) - int(left < right)


def contains(item: Value, container: Value) -> bool:
    """Return `item in container`: an element of a list, a key of a map."""
    if type(container) is OpenMap:
        container = container.items
    if type(container) is dict:
        return any(equal(item, key) for key in container) if is_number(item) else item in container
    return any(equal(item, other) for other in as_list(container))


def lookup(operand: Value, key: Value) -> Value:
    """Return `operand[key]`."""
    if type(operand) is OptionalValue:
        return lookup_optional(operand, key)
    if type(operand) is OpenMap:
        return operand.items.get(key, {})
    if type(operand) is dict:
        if key not in operand:
            raise CelError(f"no such key: {key}")
        return read(operand[key])
    items = as_list(operand)
    if type(key) is bool or not is_number(key) or number(key) != int(number(key)):
        raise CelError(f"unsupported index type '{type(key).__name__}' in list")
    position = int(number(key))
    if not 0 <= position < len(items):
        raise CelError(f"index out of bounds: {position}")
    return read(items[position])


def lookup_optional(operand: Value, key: Value) -> OptionalValue:
    """Return `operand[?key]`: none where the key is absent or the operand is none."""
    if type(operand) is OptionalValue:
        if not operand.present:
            return operand
        operand = operand.value
    if type(operand) is OpenMap:
        found = True
    elif type(operand) is dict:
        found = key in operand
    else:
        found = type(key) is int and 0 <= key < len(as_list(operand))
    return OptionalValue(present=True, value=lookup(operand, key)) if found else NONE


def _concatenate(left: Value, right: Value) -> Value:
    """Sets become a union; in maps an item on the right replaces the one of its key."""
    check_size(_length(left) + _length(right))
    if type(left) is not KeyedList:
        return as_list(left) + as_list(right)
    if not left.keys:
        fresh = [item for item in as_list(right) if not any(equal(item, old) for old in left.items)]
        return KeyedList(items=left.items + fresh, keys=())
    merged = {map_key(item, left.keys): item for item in left.items}
    merged.update((map_key(item, left.keys), item) for item in as_list(right))
    return KeyedList(items=list(merged.values()), keys=left.keys)


def _length(value: Value) -> int:
    return len(value.items if isinstance(value, KeyedList) else value)


def _arithmetic(left: Value, right: Value, apply: Callable[[Any, Any], Any]) -> Value:
    if type(left) is int and type(right) is int:
        return checked_int(apply(left, right))
    if type(left) is float and type(right) is float:
        return apply(left, right)
    if type(left) is UInt and type(right) is UInt:
        return checked_uint(apply(left.value, right.value))
    raise CelError(_NO_OVERLOAD)


def _quotient(left: Any, right: Any) -> Any:
    if type(left) is float:
        return left / right
    if right == 0:
        raise CelError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise CelError("modulus by zero")
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def _divided_by_zero(left: float, right: float) -> float:
    if left == 0 or left != left:
        return float("nan")
    negative = (left < 0) != (str(right)[0] == "-")
    return float("-inf") if negative else float("inf")


BINARY: Mapping[str, Callable[[Value, Value], Value]] = MappingProxyType(
    {
        "+": add,
        "-": subtract,
        "*": multiply,
        "/": divide,
        "%": modulo,
        "==": equal,
        "!=": lambda left, right: not equal(left, right),
        "<": lambda left, right: compare(left, right) < 0,
        "<=": lambda left, right: compare(left, right) <= 0,
        ">": lambda left, right: compare(left, right) > 0,
        ">=": lambda left, right: compare(left, right) >= 0,
        "in": contains,
    }
)
