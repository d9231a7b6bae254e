"""How values are taken apart for field ownership: struct, map, keyed list, set, whole.

The field table (built-in types) and OpenAPI schemas (custom ones) become one type here, so that
nothing else of this package knows where a shape comes from.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from libs.apiserver.types import table


class Kind(StrEnum):
    """The ways in which a value has parts."""

    GRANULAR = "granular"
    """A struct or map: each member is owned on its own."""

    KEYED = "keyed"
    """A list whose items are told apart by key members."""

    SET = "set"
    ATOMIC = "atomic"
    """A scalar, or a list or map that is owned as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """One value's shape."""

    kind: Kind
    keys: tuple[str, ...] = ()
    member: Callable[[str], "Shape"] = lambda _name: _anything()
    """The shape of a member (or, under any name, of an item)."""
    lasting: bool = False
    """Whether it is the one shape of a built-in type: what was made for it can be kept."""

    def step(self, name: str) -> tuple[str, "Shape"]:
        """Return how a path steps to a member, and the member's shape."""
        return f"f:{name}", self.member(name)


def _anything() -> Shape:
    return ANYTHING


ATOMIC = Shape(kind=Kind.ATOMIC)
ANYTHING = Shape(kind=Kind.GRANULAR)
"""A value without a schema: maps have parts, lists have none."""


@lru_cache(maxsize=4096)
def of_type(type_: str) -> Shape:
    """Return the shape of a built-in type."""
    bare = type_.lstrip("*")
    if bare.startswith("map:"):
        return Shape(kind=Kind.GRANULAR, member=lambda _name: of_type(bare[4:]), lasting=True)
    struct = table.struct_of(bare)
    if struct is None or bare in table.atomic_structs():
        return ATOMIC
    members = struct
    known: dict[str, Shape] = {}

    def member(name: str) -> Shape:
        shape = known.get(name)
        if shape is None:
            if name not in members:
                return ANYTHING
            shape = known[name] = _of_field(members[name])
        return shape

    return Shape(kind=Kind.GRANULAR, member=member, lasting=True)


def _of_field(field: table.Field) -> Shape:
    if field.atomic:
        return ATOMIC
    if not field.is_list:
        return of_type(field.type)
    if field.list_type == "set":
        return Shape(kind=Kind.SET)
    if field.list_type == "map":
        return Shape(
            kind=Kind.KEYED,
            keys=field.list_keys,
            member=lambda _name: of_type(field.item_type),
            lasting=True,
        )
    return ATOMIC


def of_schema(schema: Mapping[str, Any]) -> Shape:
    """Return the shape that an OpenAPI schema gives a custom resource."""
    if schema.get("type") == "array":
        return _of_list(schema)
    if schema.get("x-kubernetes-map-type") == "atomic":
        return ATOMIC
    if schema.get("type") != "object" and "properties" not in schema:
        return ANYTHING if schema.get("x-kubernetes-preserve-unknown-fields") else ATOMIC
    properties = schema.get("properties") or {}
    additional = schema.get("additionalProperties")

    def member(name: str) -> Shape:
        if name in properties:
            return of_schema(properties[name])
        return of_schema(additional) if isinstance(additional, Mapping) else ANYTHING

    return Shape(kind=Kind.GRANULAR, member=member)


def _of_list(schema: Mapping[str, Any]) -> Shape:
    items = schema.get("items") or {}
    list_type = schema.get("x-kubernetes-list-type", "atomic")
    if list_type == "set":
        return Shape(kind=Kind.SET)
    if list_type == "map":
        keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        return Shape(kind=Kind.KEYED, keys=keys, member=lambda _name: of_schema(items))
    return ATOMIC


def of_custom(schema: Mapping[str, Any]) -> Shape:
    """Return the shape of a custom resource as a whole: its metadata is the usual one."""
    body = of_schema(schema)
    metadata = of_type(table.OBJECT_META)
    return Shape(
        kind=Kind.GRANULAR,
        member=lambda name: metadata if name == "metadata" else body.member(name),
    )
