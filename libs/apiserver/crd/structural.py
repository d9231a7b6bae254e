"""What keeps a CRD's schemas from being structural, so that the definition itself is refused.

A definition with one version is told of its schema as `spec.validation`, as the API server does: it
moves a schema that all versions share up there. Names, scope and group are `definition`'s part.

Source: Kubernetes documentation, "Specifying a structural schema" and "Defaulting"; wordings as
recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.crd import pruning, rule_checks, schema_rules
from libs.apiserver.crd.patterns import Malformed, compile_pattern
from libs.apiserver.crd.schema import Schema, parse_schema
from libs.apiserver.crd.validation import validate
from libs.apiserver.crd.values import identical, received
from libs.apiserver.field_errors import FieldError, not_allowed, required, wrong
from libs.domain.errors import InvalidRequest

Raw = Mapping[str, Any]

_AT_ROOT = "must not be empty at the root"
_IN_LIST = "must not be empty for specified array items"
_IN_OBJECT = "must not be empty for specified object fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_OPEN = "x-kubernetes-preserve-unknown-fields"
_METADATA = (
    "must not specify anything other than name and generateName, but metadata is implicitly "
    "specified"
)
_ROOT_OBJECT = (
    'only "object" is allowed as the type at the root of the schema if the status subresource is '
    "enabled"
)
_FORBIDDEN_BELOW = {
    "type": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    _OPEN: "must be false to be structural",
    _EMBEDDED: "must be false to be structural",
    _INT_OR_STRING: "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_EITHER = [{"type": "integer"}, {"type": "string"}]


def schema_errors(crd: Raw) -> list[FieldError]:
    """Return what is wrong with the schemas of a definition, in the order of its versions."""
    spec = crd["spec"]
    errors: list[FieldError] = []
    versions = spec["versions"] or ()
    shares_schema = len(versions) == 1
    for index, version in enumerate(versions):
        place = f"spec.versions[{index}].schema.openAPIV3Schema"
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            errors.append(required(place))
        else:
            path = "spec.validation.openAPIV3Schema" if shares_schema else place
            has_status = "status" in (version.get("subresources") or {})
            errors += _of_schema(schema, path, has_status=has_status)
    if spec.get("preserveUnknownFields"):
        instead = "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema"
        why = f"cannot set to true, {instead} instead"
        errors.append(wrong("spec.preserveUnknownFields", True, why))
    return errors


def _of_schema(schema: Raw, path: str, *, has_status: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if has_status and schema.get("type", "") not in ("", "object"):
        errors.append(wrong(f"{path}.type", schema["type"], _ROOT_OBJECT))
    if schema.get("nullable"):
        errors.append(not_allowed(f"{path}.nullable", "nullable cannot be true at the root"))
    structural: list[FieldError] = []
    if not schema_rules.is_unsupported(schema):
        found = [*_invariants(schema, path, _AT_ROOT)]
        structural = sorted(found, key=lambda error: (error.field, error.message))
        structural = structural or [*_defaults(schema, path)]
    errors += structural
    others = [*schema_rules.node_errors(schema, path)]
    errors += others
    if not errors:
        errors += rule_checks.rule_errors(schema, path)
    return errors or _compile_errors(schema, path)


def _compile_errors(schema: Raw, path: str) -> list[FieldError]:
    """Return what nothing above has found, so that what is accepted can be served."""
    try:
        parse_schema(schema, path)
    except InvalidRequest as error:
        return [wrong(error.field, "", error.detail)]
    return []


def _invariants(schema: Raw, path: str, untyped: str) -> Iterator[FieldError]:
    kind, items = schema.get("type", ""), schema.get("items")
    if kind == "array" and items is None:
        yield required(f"{path}.items", "must be specified")
    if isinstance(items, Mapping):
        yield from _invariants(items, f"{path}.items", _IN_LIST)
    for name, child in (schema.get("properties") or {}).items():
        yield from _invariants(child, f"{path}.properties[{name}]", _IN_OBJECT)
    values = schema.get("additionalProperties")
    if values and untyped == _AT_ROOT:
        yield not_allowed(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(values, Mapping):
        yield from _invariants(values, f"{path}.additionalProperties", _IN_OBJECT)
    yield from _extensions(schema, path)
    yield from _values(schema, path)
    yield from _type(schema, path, untyped)
    if untyped == _AT_ROOT or schema.get(_EMBEDDED):
        yield from _resource(schema, path, is_root=untyped == _AT_ROOT)


def _extensions(schema: Raw, path: str) -> Iterator[FieldError]:
    if schema.get(_INT_OR_STRING):
        for name in (_OPEN, _EMBEDDED):
            if schema.get(name):
                yield wrong(f"{path}.{name}", True, f"must be false if {_INT_OR_STRING} is true")


def _type(schema: Raw, path: str, untyped: str) -> Iterator[FieldError]:
    kind = schema.get("type", "")
    if schema.get(_EMBEDDED) and kind != "object":
        why = f"must be object if {_EMBEDDED} is true"
        yield wrong(f"{path}.type", kind, why) if kind else required(f"{path}.type", why)
    elif not kind and not schema.get(_INT_OR_STRING) and not schema.get(_OPEN):
        yield required(f"{path}.type", untyped)
    if schema.get(_EMBEDDED) and schema.get("additionalProperties"):
        yield not_allowed(f"{path}.additionalProperties", f"must not be used if {_EMBEDDED} is set")
    if untyped == _AT_ROOT and kind not in ("", "object"):
        yield wrong(f"{path}.type", kind, "must be object at the root")


def _resource(schema: Raw, path: str, *, is_root: bool) -> Iterator[FieldError]:
    """Yield what the schema of a resource says of what every resource has."""
    properties = schema.get("properties") or {}
    for name in ("kind", "apiVersion"):
        kind = properties.get(name, {}).get("type", "")
        if name in properties and kind != "string":
            yield wrong(f"{path}.properties[{name}].type", kind, "must be string")
    if "metadata" in properties:
        metadata, at = properties["metadata"], f"{path}.properties[metadata]"
        if metadata.get("type", "") != "object":
            yield wrong(f"{at}.type", metadata.get("type", ""), "must be object")
        if is_root and not _is_plain(metadata):
            yield not_allowed(at, _METADATA)
    if schema.get(_EMBEDDED) and not schema.get(_OPEN) and not properties:
        why = f"must not be empty if {_EMBEDDED} is true without {_OPEN}"
        yield required(f"{path}.properties", why)


def _is_plain(metadata: Raw) -> bool:
    names = set(metadata.get("properties") or {})
    if names and not names <= {"name", "generateName"}:
        return False
    return not any(
        value for name, value in metadata.items() if name not in ("type", "default", "properties")
    )


def _values(schema: Raw, path: str) -> Iterator[FieldError]:
    """Yield what is wrong with the part that only judges values."""
    either = bool(schema.get(_INT_OR_STRING))
    for index, child in enumerate(schema.get("anyOf") or ()):
        if not (either and schema["anyOf"] == _EITHER):
            yield from _nested(child, f"{path}.anyOf[{index}]")
    for index, child in enumerate(schema.get("allOf") or ()):
        skipped = either and index == 0 and child.get("anyOf") == _EITHER
        yield from _nested({} if skipped else child, f"{path}.allOf[{index}]")
    for index, child in enumerate(schema.get("oneOf") or ()):
        yield from _nested(child, f"{path}.oneOf[{index}]")
    if isinstance(schema.get("not"), Mapping):
        yield from _nested(schema["not"], f"{path}.not")
    if schema.get("pattern"):
        try:
            compile_pattern(schema["pattern"])
        except Malformed as error:
            why = f"must be a valid regular expression, but isn't: {error}"
            yield wrong(f"{path}.pattern", schema["pattern"], why)


def _nested(schema: Raw, path: str) -> Iterator[FieldError]:
    yield from _values(schema, path)
    if isinstance(schema.get("items"), Mapping):
        yield from _nested(schema["items"], f"{path}.items")
    for name, child in (schema.get("properties") or {}).items():
        yield from _nested(child, f"{path}.properties[{name}]")
    if schema.get("additionalProperties"):
        yield not_allowed(f"{path}.additionalProperties", "must be undefined to be structural")
    for name, why in _FORBIDDEN_BELOW.items():
        if schema.get(name):
            yield not_allowed(f"{path}.{name}", why)
    if "metadata" in (schema.get("properties") or {}):
        why = "must not be specified in a nested context"
        yield not_allowed(f"{path}.properties[metadata]", why)


def _defaults(schema: Raw, path: str) -> Iterator[FieldError]:
    if schema.get("default") is not None:
        yield from _default_errors(schema, path)
    for name, child in (schema.get("properties") or {}).items():
        yield from _defaults(child, f"{path}.properties[{name}]")
    for name in ("additionalProperties", "items"):
        if isinstance(schema.get(name), Mapping):
            yield from _defaults(schema[name], f"{path}.{name}")


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
