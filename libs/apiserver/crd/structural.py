"""What keeps a CRD's schemas from being structural, so that the definition itself is refused.

A definition with one version is told of its schema as `spec.validation`, as the API server does: it
moves a schema that all versions share up there. Names, scope and group are the API server's part.

Source: Kubernetes documentation, "Specifying a structural schema" and "Defaulting"; wordings as
recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.crd import pruning
from libs.apiserver.crd.schema import Schema, parse_schema
from libs.apiserver.crd.validation import validate
from libs.apiserver.crd.values import identical, received
from libs.apiserver.field_errors import FieldError, not_allowed, required, wrong
from libs.domain.errors import InvalidRequest

Raw = Mapping[str, Any]

_KEY_MAY_BE_ABSENT = (
    "this property is in x-kubernetes-list-map-keys, so it must have a default "
    "or be a required property"
)
_AT_ROOT = "must not be empty at the root"
_IN_LIST = "must not be empty for specified array items"
_IN_OBJECT = "must not be empty for specified object fields"


def schema_errors(crd: Raw) -> list[FieldError]:
    """Return what is wrong with the schemas of a definition, in the order of its versions."""
    spec = crd["spec"]
    errors: list[FieldError] = []
    if spec.get("preserveUnknownFields"):
        instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema"
        why = f"cannot set to true, {instead} instead"
        errors.append(wrong("spec.preserveUnknownFields", True, why))
    versions = spec["versions"] or ()
    shares_schema = len(versions) == 1
    for index, version in enumerate(versions):
        place = f"spec.versions[{index}].schema.openAPIV3Schema"
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            errors.append(required(place))
        else:
            path = "spec.validation.openAPIV3Schema" if shares_schema else place
            errors += [*_node_errors(schema, path, _AT_ROOT)] or _compile_errors(schema, path)
    return errors


def _compile_errors(schema: Raw, path: str) -> list[FieldError]:
    try:
        parse_schema(schema, path)
    except InvalidRequest as error:
        return [wrong(error.field, "", error.detail)]
    return []


def _node_errors(schema: Raw, path: str, untyped: str) -> Iterator[FieldError]:
    kind = schema.get("type", "")
    is_open = schema.get("x-kubernetes-int-or-string") or schema.get(
        "x-kubernetes-preserve-unknown-fields"
    )
    if not kind and (untyped == _AT_ROOT or not is_open):
        yield required(f"{path}.type", untyped)
    elif untyped == _AT_ROOT and kind != "object":
        yield wrong(f"{path}.type", kind, "must be object at the root")
    if kind == "array" and "items" not in schema:
        yield required(f"{path}.items", "must be specified")
    if schema.get("x-kubernetes-list-type") == "map":
        yield from _key_errors(schema, path)
    if schema.get("default") is not None:
        yield from _default_errors(schema, path)
    yield from _child_errors(schema, path)


def _child_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    for name, child in (schema.get("properties") or {}).items():
        yield from _node_errors(child, f"{path}.properties[{name}]", _IN_OBJECT)
    if isinstance(schema.get("additionalProperties"), dict):
        child = schema["additionalProperties"]
        yield from _node_errors(child, f"{path}.additionalProperties", _IN_OBJECT)
    if isinstance(schema.get("items"), list):
        yield not_allowed(f"{path}.items", "items must be a schema object and not an array")
    elif "items" in schema:
        yield from _node_errors(schema["items"], f"{path}.items", _IN_LIST)


def _key_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    keys = schema.get("x-kubernetes-list-map-keys") or []
    if not keys:
        why = "must not be empty if x-kubernetes-list-type is map"
        yield required(f"{path}.x-kubernetes-list-map-keys", why)
    items = schema.get("items")
    if not isinstance(items, Mapping):
        return
    properties = items.get("properties") or {}
    if any(key not in properties for key in keys):
        why = "entries must all be names of item properties"
        yield wrong(f"{path}.x-kubernetes-list-map-keys", keys, why)
    optional = [key for key in keys if key in properties and key not in items.get("required", ())]
    for key in optional:
        if "default" not in properties[key]:
            yield required(f"{path}.items.properties[{key}].default", _KEY_MAY_BE_ABSENT)


def _default_errors(schema: Raw, path: str) -> Iterator[FieldError]:
    try:
        compiled: Schema = parse_schema(schema, path)
    except InvalidRequest:
        return
    default = received(schema["default"])
    pruned = {"v": received(default)}
    holder = parse_schema({"type": "object", "properties": {"v": schema}}, path)
    pruning.prune(pruned, holder)
    if not identical(pruned["v"], default):
        yield wrong(f"{path}.default", default, "must not have unknown fields")
    yield from validate(default, compiled, prefix=f"{path}.default")
