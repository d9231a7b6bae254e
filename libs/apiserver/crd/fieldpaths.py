"""Paths to fields within a schema: `.spec.replicas`, `.spec['a-b']`.

Source: Kubernetes documentation, "Validation rules": fieldPath; "Field selectors for custom
resources".
"""

import re
from collections.abc import Mapping
from typing import Any

Raw = Mapping[str, Any]

_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['((?:[^'\\]|\\.)*)'\]|\[(\d+)\]")
_METADATA: Raw = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "generateName": {"type": "string"}},
}
_ENVELOPE: Raw = {
    "metadata": _METADATA,
    "kind": {"type": "string"},
    "apiVersion": {"type": "string"},
}


class InvalidPath(ValueError):
    """A path that leads nowhere."""


def resolve(path: str, schema: Raw, *, arrays: bool = True) -> Raw:
    """Return the schema of the field at a path below `schema`; raises `InvalidPath`."""
    if not path.startswith((".", "[")):
        raise InvalidPath("should begin with '.' or '['")
    current, position, is_root = schema, 0, True
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None or (step[3] is not None and not arrays):
            raise InvalidPath("does not refer to a valid field")
        current = _below(current, step[1] or step[2] or "", is_root=is_root)
        position, is_root = step.end(), False
    return current


def _below(schema: Raw, name: str, *, is_root: bool) -> Raw:
    properties = schema.get("properties") or {}
    if is_root and name in _ENVELOPE and not properties.get(name, {}).get("properties"):
        return dict(_ENVELOPE[name])
    if name in properties:
        return dict(properties[name])
    values = schema.get("additionalProperties")
    if isinstance(values, Mapping):
        return values
    raise InvalidPath("does not refer to a valid field")
