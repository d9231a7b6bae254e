"""The functions that a CEL expression may call: the standard ones and Kubernetes' libraries.

One table, `FUNCTIONS`: (name, whether it is a member) → (how many arguments, the target counted),
function.

Source: "Functions" of the CEL language definition; Kubernetes documentation, "Common Expression
Language in Kubernetes", section on the CEL community and Kubernetes libraries. Not there yet: `ip`,
`cidr`, `url`, `format`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from libs.cel import lists, semver, strings
from libs.cel.operators import checked_int, checked_uint, compare
from libs.cel.values import (
    NONE,
    CelError,
    KeyedList,
    OpenMap,
    OptionalValue,
    Quantity,
    TypeValue,
    UInt,
    Value,
    is_number,
    number,
    type_name,
)
from libs.domain import quantity_text
from libs.domain.duration import parse_go
from libs.domain.errors import InvalidRequest

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _conversion_error(value: Value, target: str) -> CelError:
    return CelError(f"type conversion error from '{type_name(value)}' to '{target}'")


def _size(value: Value) -> int:
    if isinstance(value, KeyedList | OpenMap):
        return len(value.items)
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise CelError("no such overload")


def _int(value: Value) -> int:
    match value:
        case bool():
            raise CelError("no such overload")
        case int():
            return value
        case UInt():
            return checked_int(value.value)
        case float():
            if not -(2.0**63) < value < 2.0**63:
                raise CelError("integer overflow")
            return int(value)
        case str() if _INTEGER.fullmatch(value) and abs(int(value) * 2 + 1) <= 2**64 - 1:
            return int(value)
        case datetime():
            return int(value.timestamp())
        case _:
            raise _conversion_error(value, "int")


def _uint(value: Value) -> UInt:
    match value:
        case UInt():
            return value
        case str() if re.fullmatch(r"[0-9]+", value, re.ASCII) and int(value) < 2**64:
            return UInt(value=int(value))
        case int() | float() if type(value) is not bool:
            return checked_uint(int(value))
        case _:
            raise _conversion_error(value, "uint")


def _double(value: Value) -> float:
    if is_number(value):
        return float(number(value))
    if isinstance(value, str) and value == value.strip() and "_" not in value:
        try:
            return float(value)
        except ValueError:
            pass
    raise _conversion_error(value, "double")


def _string(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case float():
            return strings.double_text(value)
        case int() | UInt():
            return str(number(value))
        case bytes():
            return value.decode()
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{strings.double_text(value.total_seconds())}s"
        case _:
            raise _conversion_error(value, "string")


def _bytes(value: Value) -> bytes:
    match value:
        case str():
            return value.encode()
        case bytes():
            return value
        case _:
            raise _conversion_error(value, "bytes")


def _bool(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    texts = {"1": True, "t": True, "true": True, "TRUE": True, "True": True, "T": True} | {
        "0": False, "f": False, "false": False, "FALSE": False, "False": False, "F": False
    }  # fmt: skip
    if isinstance(value, str) and value in texts:
        return texts[value]
    raise _conversion_error(value, "bool")


def duration_text(text: str) -> bool:
    """Return whether the text is a duration as Go writes them (`1h30m`)."""
    try:
        parse_go(text)
    except InvalidRequest:
        return False
    return True


def duration(value: Value) -> timedelta:
    """Return `duration(value)`."""
    if isinstance(value, timedelta):
        return value
    if not isinstance(value, str):
        raise _conversion_error(value, "duration")
    try:
        return parse_go(value)
    except InvalidRequest as error:
        raise _conversion_error(value, "duration") from error


def timestamp(value: Value) -> datetime:
    """Return `timestamp(value)`."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, int) and type(value) is not bool:
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, str) and _TIMESTAMP.fullmatch(value):
        try:
            return datetime.fromisoformat(value.upper())
        except ValueError:
            pass
    raise _conversion_error(value, "timestamp")


def _quantity(text: Value) -> Quantity:
    try:
        return Quantity(number=quantity_text.value(text))
    except (quantity_text.MalformedQuantity, TypeError) as error:
        raise CelError(
            "quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from error


def _is_quantity(text: Value) -> bool:
    try:
        _quantity(text)
    except CelError:
        return False
    return True


def _quantity_number(operand: Value) -> Decimal:
    match operand:
        case Quantity():
            return operand.number
        case int() if type(operand) is not bool:
            return Decimal(operand)
        case _:
            raise CelError("no such overload")


def _quantity_as_integer(operand: Value) -> int:
    value = _quantity_number(operand)
    if value != value.to_integral_value():
        raise CelError("cannot convert value to integer")
    return checked_int(int(value))


def _quantity_is_integer(operand: Value) -> bool:
    value = _quantity_number(operand)
    return value == value.to_integral_value() and abs(value) < 2**63


def _or_value(optional: Value, fallback: Value) -> Value:
    if type(optional) is not OptionalValue:
        raise CelError("no such overload")
    return optional.value if optional.present else fallback


def _or(optional: Value, other: Value) -> Value:
    if type(optional) is not OptionalValue:
        raise CelError("no such overload")
    return optional if optional.present else other


def _optional_value(optional: Value) -> Value:
    if type(optional) is not OptionalValue:
        raise CelError("no such overload")
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.value


def _of_non_zero(value: Value) -> OptionalValue:
    is_zero = value in (None, False, 0, 0.0, "", b"") or value in ([], {})
    return NONE if is_zero else OptionalValue(present=True, value=value)


def _time_part(read: Callable[[datetime], int]) -> Callable[..., int]:
    def part(value: Value, zone: str = "UTC") -> int:
        if not isinstance(value, datetime):
            raise CelError("no such overload")
        return read(strings.in_zone(value, zone))

    return part


def _span_or_time(unit_seconds: float, read: Callable[[datetime], int]) -> Callable[..., int]:
    of_time = _time_part(read)

    def part(value: Value, zone: str = "UTC") -> int:
        if isinstance(value, timedelta):
            return int(value.total_seconds() / unit_seconds)
        return of_time(value, zone)

    return part


Table = Mapping[tuple[str, bool], tuple[frozenset[int], Callable[..., Any]]]

_GLOBAL: dict[str, tuple[int, Callable[..., Any]]] = {
    "size": (1, _size),
    "int": (1, _int),
    "uint": (1, _uint),
    "double": (1, _double),
    "string": (1, _string),
    "bytes": (1, _bytes),
    "bool": (1, _bool),
    "duration": (1, duration),
    "timestamp": (1, timestamp),
    "dyn": (1, lambda value: value),
    "type": (1, lambda value: TypeValue(name=type_name(value))),
    "matches": (2, strings.matches),
    "quantity": (1, _quantity),
    "isQuantity": (1, _is_quantity),
    "optional.of": (1, lambda value: OptionalValue(present=True, value=value)),
    "optional.ofNonZeroValue": (1, _of_non_zero),
    "optional.none": (0, lambda: NONE),
    "sets.contains": (2, lists.set_contains),
    "sets.equivalent": (2, lists.set_equivalent),
    "sets.intersects": (2, lists.set_intersects),
}

_MEMBER: dict[str, tuple[frozenset[int], Callable[..., Any]]] = {
    "size": (frozenset({1}), _size),
    "orValue": (frozenset({2}), _or_value),
    "or": (frozenset({2}), _or),
    "value": (frozenset({1}), _optional_value),
    "hasValue": (frozenset({1}), lambda optional: bool(optional.present)),
    "isLessThan": (frozenset({2}), lambda a, b: compare(a, b) < 0),
    "isGreaterThan": (frozenset({2}), lambda a, b: compare(a, b) > 0),
    "compareTo": (frozenset({2}), compare),
    "sign": (frozenset({1}), lambda q: int(_quantity_number(q).compare(Decimal(0)))),
    "add": (frozenset({2}), lambda a, b: Quantity(number=a.number + _quantity_number(b))),
    "sub": (frozenset({2}), lambda a, b: Quantity(number=a.number - _quantity_number(b))),
    "asInteger": (frozenset({1}), _quantity_as_integer),
    "isInteger": (frozenset({1}), _quantity_is_integer),
    "asApproximateFloat": (frozenset({1}), lambda q: float(_quantity_number(q))),
    "getFullYear": (frozenset({1, 2}), _time_part(lambda t: t.year)),
    "getMonth": (frozenset({1, 2}), _time_part(lambda t: t.month - 1)),
    "getDate": (frozenset({1, 2}), _time_part(lambda t: t.day)),
    "getDayOfMonth": (frozenset({1, 2}), _time_part(lambda t: t.day - 1)),
    "getDayOfWeek": (frozenset({1, 2}), _time_part(lambda t: t.isoweekday() % 7)),
    "getDayOfYear": (frozenset({1, 2}), _time_part(lambda t: t.timetuple().tm_yday - 1)),
    "getHours": (frozenset({1, 2}), _span_or_time(3600, lambda t: t.hour)),
    "getMinutes": (frozenset({1, 2}), _span_or_time(60, lambda t: t.minute)),
    "getSeconds": (frozenset({1, 2}), _span_or_time(1, lambda t: t.second)),
    "getMilliseconds": (frozenset({1, 2}), _span_or_time(0.001, lambda t: t.microsecond // 1000)),
    **strings.MEMBERS,
    **lists.MEMBERS,
    **semver.MEMBERS,
}

FUNCTIONS: Table = MappingProxyType(
    {(name, False): (frozenset({count}), function) for name, (count, function) in _GLOBAL.items()}
    | {(name, False): entry for name, entry in semver.GLOBALS.items()}
    | {(name, True): entry for name, entry in _MEMBER.items()}
)
