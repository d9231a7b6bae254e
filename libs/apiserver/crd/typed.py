"""JSON values into CEL values, by schema.

Laws: what does not fit its schema becomes `Poison`, which hurts only an expression that reads it;
names of fields are escaped as CEL needs them; fields that the schema does not type are not there
for CEL.

Source: Kubernetes documentation, "Validation rules" (escaping, types, equality of lists by list
type).
"""

import base64
import re
from functools import lru_cache
from typing import Any

from libs.apiserver.crd.formats import FORMATS
from libs.apiserver.crd.gotext import go_type
from libs.apiserver.crd.schema import Schema
from libs.cel.functions import duration, timestamp
from libs.cel.values import CelError, KeyedList, Poison

_RESERVED = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return"),
    }
)

_ESCAPED = {".": "__dot__", "-": "__dash__", "/": "__slash__"}


@lru_cache(maxsize=4096)
def escape(name: str) -> str:
    """Return the name by which an expression selects a field."""
    if name in _RESERVED:
        return f"__{name}__"
    escaped = name.replace("__", "__underscores__")
    return re.sub(r"[.\-/]", lambda found: _ESCAPED[found.group()], escaped)


def convert_resource(value: Any, schema: Schema) -> Any:
    """Return the CEL value of a whole object; of its metadata CEL sees the names only."""
    fields = _convert_object(value, schema)
    if not isinstance(value, dict) or not isinstance(fields, dict):
        return fields
    names = {
        name: value["metadata"][name]
        for name in ("name", "generateName")
        if isinstance(value.get("metadata"), dict) and name in value["metadata"]
    }
    envelope = {name: value[name] for name in ("apiVersion", "kind") if name in value}
    return {**fields, **envelope, "metadata": names}


def convert(value: Any, schema: Schema | None) -> Any:
    """Return the CEL value of a JSON value."""
    if schema is None or value is None:
        return value
    match value:
        case dict() if schema.embedded:
            return convert_resource(value, schema)
        case dict():
            return _convert_object(value, schema)
        case list():
            return _convert_list(value, schema)
        case str():
            return _convert_text(value, schema)
        case bool():
            return value if schema.types in (("boolean",), ()) else _misfit(schema, value)
        case _:
            return _convert_number(value, schema)


def _convert_object(value: dict[str, Any], schema: Schema) -> Any:
    if schema.additional is not None:
        return {key: convert(item, schema.additional) for key, item in value.items()}
    if schema.types != ("object",):
        return value if not schema.types else _misfit(schema, value)
    return {
        escape(key): convert(value[key], inner)
        for key, inner in schema.properties.items()
        if key in value
    }


def _convert_list(value: list[Any], schema: Schema) -> Any:
    items = [convert(item, schema.items) for item in value]
    if schema.list_type == "set":
        return KeyedList(items=items, keys=())
    if schema.list_type == "map":
        return KeyedList(items=items, keys=tuple(escape(key) for key in schema.list_keys))
    return items


def _convert_text(value: str, schema: Schema) -> Any:
    if "string" not in schema.types and schema.types:
        return _misfit(schema, value)
    try:
        if schema.format == "date-time":
            return timestamp(value)
        if schema.format == "date":
            return timestamp(f"{value}T00:00:00Z")
        if schema.format == "duration":
            return duration(value)
    except CelError as error:
        return Poison(message=str(error))
    if schema.format == "byte" and FORMATS["byte"](value):
        return base64.b64decode(value)
    return value


def _convert_number(value: float, schema: Schema) -> Any:
    if schema.types == ("number",):
        return float(value)
    if schema.types == ("integer",) and isinstance(value, float):
        return _misfit(schema, value)
    if schema.types == ("integer", "string") and isinstance(value, float):
        return Poison(
            message="invalid data, expected XIntOrString value to be either a string or integer"
        )
    return (
        value
        if schema.types in (("integer",), ("integer", "string"), ())
        else _misfit(schema, value)
    )


def _misfit(schema: Schema, value: Any) -> Poison:
    names = {"integer": "int", "number": "float", "boolean": "bool"}
    wanted = names.get(schema.types[0], schema.types[0])
    return Poison(message=f"invalid data, expected {wanted}, got {go_type(value)}")
