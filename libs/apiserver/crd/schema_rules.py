"""What a schema may not say, node by node, whether it is structural or not.

Apart from `structural` because Kubernetes reports both: there what a structural schema needs, here
what OpenAPI extensions ask for and what is not supported at all.

Source: Kubernetes documentation, "Specifying a structural schema", "Merge strategy"; order and
wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.crd import rule_checks
from libs.apiserver.field_errors import FieldError, not_allowed, not_supported, required, wrong

Raw = Mapping[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED = {
    "id": "id is not supported",
    "additionalItems": "additionalItems is not supported",
    "patternProperties": "patternProperties is not supported",
    "definitions": "definitions is not supported",
    "dependencies": "dependencies is not supported",
    "$ref": "$ref is not supported",
}
_QUADRATIC = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
_BOTH = "additionalProperties and properties are mutual exclusive"
_ATOMIC = "must be atomic as item of a list with x-kubernetes-list-type=set"
_LIST, _MAP, _KEYS = (
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-list-map-keys",
)
_OF_KEYS = "this property is in x-kubernetes-list-map-keys, so it"


def is_unsupported(schema: Raw) -> bool:
    """Tell whether a schema says anything that no structural schema can be made of."""
    return any(
        any(node.get(name) for name in _UNSUPPORTED)
        or isinstance(node.get("items"), list)
        or node.get("type") == "null"
        for node in _nodes(schema)
    )


def _nodes(schema: Raw) -> Iterator[Raw]:
    yield schema
    for _step, child in children(schema):
        yield from _nodes(child)


def children(schema: Raw) -> Iterator[tuple[str, Raw]]:
    """Yield the schemas directly below one, with the step that leads to each."""
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        yield "additionalProperties", values
    for name in sorted(schema.get("properties") or {}):
        yield f"properties[{name}]", schema["properties"][name]
    if isinstance(schema.get("not"), Mapping):
        yield "not", schema["not"]
    for kind in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(schema.get(kind) or ()):
            yield f"{kind}[{index}]", child
    if isinstance(schema.get("items"), Mapping):
        yield "items", schema["items"]


def node_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    """Yield what a schema, and those below it, may not say."""
    yield from _standard(schema, path)
    if schema.get("uniqueItems"):
        yield not_allowed(f"{path}.uniqueItems", _QUADRATIC)
    values = schema.get("additionalProperties")
    if schema.get("properties") and values is not None and values is not True:
        yield not_allowed(f"{path}.additionalProperties", _BOTH)
    for step, child in children(schema):
        yield from node_errors(child, f"{path}.{step}")
    yield from _kind_errors(schema, path)
    if schema.get(_LIST) == "map":
        yield from _map_errors(schema, path)
    yield from _item_errors(schema, path)
    yield from rule_checks.static_errors(schema, path)


def _standard(schema: Raw, path: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    for name, why in _UNSUPPORTED.items():
        if schema.get(name):
            yield not_allowed(f"{path}.{name}", why)
    if kind == "null":
        why = "type cannot be set to null, use nullable as an alternative"
        yield not_allowed(f"{path}.type", why)
    if isinstance(schema.get("items"), list):
        yield not_allowed(f"{path}.items", "items must be a schema object and not an array")


def _kind_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        at = f"{path}.x-kubernetes-preserve-unknown-fields"
        yield wrong(at, False, "must be true or undefined")
    yield from _needs_type(schema, path, _MAP, "object")
    if _MAP in schema and schema[_MAP] not in ("atomic", "granular"):
        yield not_supported(f"{path}.{_MAP}", schema[_MAP], ("atomic", "granular"))
    mistyped = list(_needs_type(schema, path, _LIST, "array"))
    yield from mistyped
    items = schema.get("items")
    if not mistyped and schema.get(_LIST) == "set" and isinstance(items, Mapping):
        if items.get("type") == "array" and items.get(_LIST, "atomic") != "atomic":
            yield wrong(f"{path}.items.{_LIST}", items[_LIST], _ATOMIC)
        if items.get("type") == "object" and items.get(_MAP) != "atomic":
            yield wrong(f"{path}.items.{_MAP}", items.get(_LIST), _ATOMIC)
    if _LIST in schema and schema[_LIST] not in ("atomic", "set", "map"):
        yield not_supported(f"{path}.{_LIST}", schema[_LIST], ("atomic", "set", "map"))
    if schema.get(_KEYS) and schema.get(_LIST) != "map":
        why = f"must be map if {_KEYS} is non-empty"
        if _LIST in schema:
            yield wrong(f"{path}.{_LIST}", schema[_LIST], why)
        else:
            yield required(f"{path}.{_LIST}", why)


def _needs_type(schema: Raw, path: str, extension: str, wanted: str) -> Iterator[FieldError]:
    kind = schema.get("type") or ""
    if extension in schema and kind != wanted:
        why = f"must be {wanted} if {extension} is specified"
        yield wrong(f"{path}.type", kind, why) if kind else required(f"{path}.type", why)


def _map_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    keys, items = schema.get(_KEYS) or [], schema.get("items")
    if not keys:
        yield required(f"{path}.{_KEYS}", f"must not be empty if {_LIST} is map")
    if items is None:
        yield required(f"{path}.items", f"must have a schema if {_LIST} is map")
    if not isinstance(items, Mapping):
        return
    if items.get("type") != "object":
        why = f"must be object if parent array's {_LIST} is map"
        yield wrong(f"{path}.items.type", items.get("type", ""), why)
        return
    properties = items.get("properties") or {}
    for index, key in enumerate(keys):
        if key not in properties:
            yield wrong(f"{path}.{_KEYS}", keys, "entries must all be names of item properties")
        elif properties[key].get("type") in ("array", "object"):
            why = f"must be a scalar type if parent array's {_LIST} is map"
            yield wrong(f"{path}.items.properties[{key}].type", items["type"], why)
        if key in keys[:index]:
            yield wrong(f"{path}.{_KEYS}", keys, "must not contain duplicate entries")


def _item_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    items, kind = schema.get("items"), schema.get(_LIST)
    if not isinstance(items, Mapping) or kind not in ("set", "map"):
        return
    if items.get("nullable"):
        yield not_allowed(f"{path}.items.nullable", f"cannot be nullable when {_LIST} is {kind}")
    properties = items.get("properties") or {}
    for key in schema.get(_KEYS) or () if kind == "map" else ():
        at = f"{path}.items.properties[{key}]"
        if key not in properties:
            continue
        if key not in (items.get("required") or ()) and properties[key].get("default") is None:
            yield required(
                f"{at}.default", f"{_OF_KEYS} must have a default or be a required property"
            )
        if properties[key].get("nullable"):
            yield not_allowed(f"{at}.nullable", f"{_OF_KEYS} cannot be nullable")
