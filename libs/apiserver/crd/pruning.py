"""What a schema drops from an object and what it adds: unknown fields, nulls, defaults.

All three change the object in place; the order is `prune`, `drop_nulls`, `fill_defaults`.
"""

import copy
import re
from typing import Any

from libs.apiserver.crd.schema import MISSING, Schema

_ENVELOPE = ("apiVersion", "kind", "metadata")


def prune(value: Any, schema: Schema) -> list[str]:
    """Remove what the schema does not know from a resource; return the paths removed, sorted."""
    removed: list[str] = []
    _prune(value, schema, "", removed, is_resource=True)
    return sorted(removed)


def known_beside(schema: Schema, path: str) -> tuple[str, ...]:
    """Return the fields that the schema knows in the place of one that it does not know."""
    at: Schema | None = schema
    for step in re.findall(r"[^.\[\]]+", path)[:-1]:
        if at is not None:
            at = at.items if step.isdigit() and at.items else at.properties.get(step, at.additional)
    return tuple(at.properties) if at is not None else ()


def _prune(
    value: Any, schema: Schema | None, path: str, removed: list[str], *, is_resource: bool = False
) -> None:
    if isinstance(value, list):
        items = schema.items if schema else None
        for index, item in enumerate(value):
            embedded = bool(items and items.embedded)
            if not (schema and schema.preserves_unknown and items is None):
                _prune(item, items, f"{path}[{index}]", removed, is_resource=embedded)
        return
    if not isinstance(value, dict):
        return
    for key in list(value):
        if is_resource and key in _ENVELOPE:
            continue
        here = f"{path}.{key}" if path else key
        known = None if schema is None else schema.properties.get(key, schema.additional)
        if known is not None:
            _prune(value[key], known, here, removed, is_resource=known.embedded)
        elif schema is None or not schema.preserves_unknown:
            del value[key]
            removed.append(here)


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Remove members that are null and may not be, but those that have a default."""
    if schema is None:
        return
    if isinstance(value, list):
        for item in value:
            drop_nulls(item, schema.items)
    elif isinstance(value, dict):
        for key in list(value):
            known = schema.properties.get(key, schema.additional)
            if known is None:
                continue
            if value[key] is not None:
                drop_nulls(value[key], known)
            elif not known.nullable and known.default is MISSING:
                del value[key]


def fill_defaults(value: Any, schema: Schema | None) -> None:
    """Put defaults in place of absent members, and of nulls that may not be null."""
    if schema is None:
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            if item is None and schema.items is not None and _replaces_null(schema.items):
                value[index] = copy.deepcopy(schema.items.default)
            fill_defaults(value[index], schema.items)
    elif isinstance(value, dict):
        for key, known in schema.properties.items():
            if known.default is not MISSING and (
                key not in value or (value[key] is None and not known.nullable)
            ):
                value[key] = copy.deepcopy(known.default)
        for key in value:
            known_or_none = schema.properties.get(key, schema.additional)
            if value[key] is None and known_or_none and _replaces_null(known_or_none):
                value[key] = copy.deepcopy(known_or_none.default)
            fill_defaults(value[key], known_or_none)


def _replaces_null(schema: Schema) -> bool:
    return schema.default is not MISSING and not schema.nullable
