"""Whether the schema in a definition is structural.

Every value has a type, every list its items, every default fits.

Source: Kubernetes documentation, "Specifying a structural schema"; KEP-1623 (defaulting).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.domain.errors import InvalidRequest
from services.simulator.core.api.errors import FieldError, not_allowed, required
from services.simulator.core.crd.schema import parse_schema
from services.simulator.core.crd.validation import NO_FIELD
from services.simulator.core.crd.validation import validate as validate_value

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_LIST_TYPE, _MAP_KEYS = "x-kubernetes-list-type", "x-kubernetes-list-map-keys"


def structural_errors(schema: Mapping[str, Any], at: str) -> list[FieldError]:
    """Return what keeps a schema from being structural."""
    found: list[FieldError] = []
    if not schema.get("type"):
        found.append(required(f"{at}.type", "must not be empty at the root"))
    return found + list(_walk(schema, at))


def _walk(schema: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    yield from _list_errors(schema, at)
    if "default" in schema:
        yield from _default_errors(schema, at)
    for name, inner in (schema.get("properties") or {}).items():
        below = f"{at}.properties[{name}]"
        if _untyped(inner):
            yield required(f"{below}.type", "must not be empty for specified object fields")
        yield from _walk(inner, below)
    items = schema.get("items")
    if isinstance(items, Mapping):
        if _untyped(items):
            yield required(f"{at}.items.type", "must not be empty for specified array items")
        yield from _walk(items, f"{at}.items")
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        if _untyped(additional):
            yield required(
                f"{at}.additionalProperties.type", "must not be empty for specified object fields"
            )
        yield from _walk(additional, f"{at}.additionalProperties")


def _untyped(schema: Mapping[str, Any]) -> bool:
    return not schema.get("type") and not schema.get(_INT_OR_STRING) and not schema.get(_PRESERVE)


def _list_errors(schema: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    if schema.get("type") == "array" and "items" not in schema:
        yield required(f"{at}.items", "must be specified")
    if isinstance(schema.get("items"), list):
        yield not_allowed(f"{at}.items", "items must be a schema object and not an array")
    if schema.get(_LIST_TYPE) == "map" and not schema.get(_MAP_KEYS):
        yield required(f"{at}.{_MAP_KEYS}", "must not be empty if x-kubernetes-list-type is map")


def _default_errors(schema: Mapping[str, Any], at: str) -> list[FieldError]:
    plain = {name: value for name, value in schema.items() if name != "default"}
    try:
        found = validate_value(schema["default"], parse_schema(plain))
    except InvalidRequest:
        return []
    return [FieldError(error.reason, error.message, _below(at, error)) for error in found]


def _below(at: str, error: FieldError) -> str:
    return f"{at}.default" if error.field == NO_FIELD else f"{at}.default{error.field}"
