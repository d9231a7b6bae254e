"""Numbers against a schema: JSON types, ranges of integer formats, bounds."""

from collections.abc import Iterator
from typing import Any

from libs.apiserver.crd.gotext import plain
from libs.apiserver.crd.schema import Limits, Schema

FORMATS = frozenset({"int32", "int64", "float", "double"})
"""The formats of numbers; every other format is one of strings."""

_RANGES = {"int32": (-(2**31), 2**31 - 1)}
_INT64 = (-(2**63), 2**63 - 1)


def json_type(value: Any) -> tuple[str, str]:
    """Return the JSON type of a value and, for a number, the format that it has by itself."""
    match value:
        case bool():
            return "boolean", ""
        case int():
            return "integer", "int64"
        case float():
            return "number", "float64"
        case str():
            return "string", ""
        case list():
            return "array", ""
        case _:
            return "object", ""


def is_whole(value: Any) -> bool:
    """Return whether a double counts as an integer; beyond 53 bits none does."""
    return isinstance(value, float) and value.is_integer() and abs(value) < 2**53


def out_of_range(value: float, schema: Schema) -> str:
    """Return how the API server names the type that the number does not fit, or nothing."""
    if schema.types != ("integer",):
        return ""
    low, high = _RANGES.get(schema.format, _INT64)
    if value == int(value) and low <= int(value) <= high:
        return ""
    return f"integer with format {schema.format}" if schema.format else "integer (default format)"


def broken_bounds(value: float, limits: Limits) -> Iterator[str]:
    """Yield what each broken bound demands."""
    if limits.multiple_of is not None and value % limits.multiple_of != 0:
        yield f"should be a multiple of {plain(limits.multiple_of)}"
    if limits.maximum is not None:
        bound = plain(float(limits.maximum))
        if limits.exclusive_maximum and value >= limits.maximum:
            yield f"should be less than {bound}"
        elif value > limits.maximum:
            yield f"should be less than or equal to {bound}"
    if limits.minimum is not None:
        bound = plain(float(limits.minimum))
        if limits.exclusive_minimum and value <= limits.minimum:
            yield f"should be greater than {bound}"
        elif value < limits.minimum:
            yield f"should be greater than or equal to {bound}"
