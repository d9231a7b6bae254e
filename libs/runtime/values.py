"""One parser per type that a setting may have: text of an environment variable in, value out.

Apart from the loader because it is the whole grammar of `JOINER_CFG_` values, and pure.
Every parser raises `ValueError` with a phrase that goes after "NAME=text ": "is not …".
"""

import enum
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")


def parse_value(text: str, kind: Any) -> Any:
    """Return `text` as a value of the annotated type `kind`.

    Raises:
        ValueError: the text does not denote such a value; the message continues "NAME=text …".
        TypeError: no setting may have this type.
    """
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _parse_optional(text, arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(parse_value(item, arguments[0]) for item in _items(text))
    if origin in (dict, Mapping):
        return _parse_mapping(text, arguments)
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return _parse_enum(text, kind)
    if kind in _PARSERS:
        return _PARSERS[kind](text)
    raise TypeError(f"a setting cannot have the type {kind}")


def parse_span(text: str) -> timedelta:
    """Return the span that `10s`, `1h30m`, `250ms` or `0` denotes; never negative."""
    if text == "0":
        return timedelta()
    parts = _SPAN.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("is not a span of time such as 10s, 5m or 1h30m")
    try:
        return sum((float(number) * _UNITS[unit] for number, unit in parts), timedelta())
    except OverflowError as error:
        raise ValueError("is too long a span of time") from error


def _parse_optional(text: str, arguments: tuple[Any, ...]) -> Any:
    kinds = [argument for argument in arguments if argument is not types.NoneType]
    if len(kinds) != 1:
        raise TypeError(f"a setting cannot have the union type {arguments}")
    return None if text == "" else parse_value(text, kinds[0])


def _parse_mapping(text: str, arguments: tuple[Any, ...]) -> Mapping[Any, Any]:
    pairs: dict[Any, Any] = {}
    for item in _items(text):
        key, separator, value = item.partition("=")
        if not separator or not key:
            raise ValueError(f"is not a list of key=value, separated by commas: {item!r}")
        if key in pairs:
            raise ValueError(f"names {key!r} twice")
        pairs[parse_value(key.strip(), arguments[0])] = parse_value(value.strip(), arguments[1])
    return types.MappingProxyType(pairs)


def _parse_enum(text: str, kind: type[enum.StrEnum]) -> enum.StrEnum:
    for member in kind:
        if member.value == text:
            return member
    raise ValueError("is none of " + ", ".join(member.value for member in kind))


def _parse_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return text.lower() == "true"


def _parse_int(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        raise ValueError("is not a whole number")
    return int(text)


def _parse_float(text: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise ValueError("is not a number") from error
    if not math.isfinite(number):
        raise ValueError("is not a finite number")
    return number


def _parse_path(text: str) -> Path:
    if not text:
        raise ValueError("is not a path")
    return Path(text)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


_PARSERS: dict[Any, Callable[[str], Any]] = {
    str: str,
    bool: _parse_bool,
    int: _parse_int,
    float: _parse_float,
    timedelta: parse_span,
    Path: _parse_path,
}
