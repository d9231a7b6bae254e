"""Lists of type `set` and `map`: no item may be there twice."""

from collections.abc import Iterator
from typing import Any

from libs.apiserver.crd.gotext import bad_value
from libs.apiserver.crd.schema import Schema
from libs.apiserver.crd.values import child, identical, item_key
from libs.apiserver.field_errors import FieldError


def duplicates(value: Any, schema: Schema | None, path: str = "") -> Iterator[FieldError]:
    """Yield an error for every item below a value that repeats an earlier one of its list."""
    if schema is None or not schema.has_lists:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            inner = child(schema, key)
            yield from duplicates(item, inner, _member_path(path, schema, key))
    elif isinstance(value, list):
        yield from _repeated(value, schema, path)
        for index, item in enumerate(value):
            yield from duplicates(item, schema.items, f"{path}[{index}]")


def _member_path(path: str, schema: Schema, key: str) -> str:
    if key not in schema.properties:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _repeated(items: list[Any], schema: Schema, path: str) -> Iterator[FieldError]:
    if schema.list_type not in ("set", "map"):
        return
    seen: list[Any] = []
    for index, item in enumerate(items):
        field = f"{path}[{index}]"
        if item is None:
            continue
        if schema.list_type == "map" and not isinstance(item, dict):
            message = (
                f"Invalid value: {bad_value(item)}: must be an object for an array of list-type map"
            )
            yield FieldError("FieldValueInvalid", message, field)
            continue
        key = item_key(schema, item) if schema.list_type == "map" else item
        if any(identical(key, other) for other in seen):
            yield FieldError("FieldValueDuplicate", f"Duplicate value: {bad_value(key)}", field)
        seen.append(key)
