"""The field table of Kubernetes' built-in types: fields, types, how they merge.

The table itself is `builtin.json` (made by `services/simulator/typegen.py`); here its entries
become values, so that decoding, strategic merge patches, server-side apply and OpenAPI read the
same facts. Law: read once, never changed.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Final

Struct = MappingProxyType[str, "Field"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a struct, as Go's tags and markers describe it."""

    name: str
    type: str
    """`string`, `*int32`, `[]core/v1.Container`, `map:quantity`, `core/v1.PodSpec`, `any`…"""

    omitempty: bool
    """Whether an empty value is left out; structs are never empty in this sense."""

    omitzero: bool
    """Whether a struct of zero values is left out."""

    merge_key: str | None
    """For strategic merge: the key of list items, `""` for a set of primitives, None for a list
    that is replaced."""

    retain_keys: bool
    list_type: str
    """`atomic`, `set` or `map`; atomic where nothing is said."""

    list_keys: tuple[str, ...]
    atomic: bool
    """Whether server-side apply owns the value as a whole."""

    number: int
    """The field's number in the type's protobuf message; 0 if it has none."""

    choices: tuple[str, ...]
    """The only values that it, or each of its items, may have; empty where any text will do."""

    go_type: str
    """What Go calls the type (`v1.ResourceList`); empty where that follows from `type`."""

    embedded: str
    """The embedded struct that holds it in Go, empty if none does."""

    go_name: str
    """What Go calls the field (`QOSClass`)."""

    @property
    def item_type(self) -> str:
        """Return the type behind pointers, or of a list's or map's members."""
        bare = self.type.lstrip("*")
        return bare.removeprefix("[]").removeprefix("map:").lstrip("*")

    @property
    def is_list(self) -> bool:
        """Tell whether the value is a list."""
        return self.type.lstrip("*").startswith("[]")

    @property
    def is_map(self) -> bool:
        """Tell whether the value is a map with free keys."""
        return self.type.lstrip("*").startswith("map:")


@lru_cache(maxsize=1)
def structs() -> MappingProxyType[str, Struct]:
    """Return every struct by its qualified name (`core/v1.PodSpec`)."""
    text = resources.files(__package__).joinpath("builtin.json").read_text()
    return MappingProxyType({name: _struct(entry) for name, entry in json.loads(text).items()})


def struct_of(type_: str) -> Struct | None:
    """Return the fields of the struct behind `type_`, None if it is no struct."""
    return structs().get(type_.lstrip("*"))


@lru_cache(maxsize=1)
def atomic_structs() -> frozenset[str]:
    """Return the structs that server-side apply owns as a whole."""
    text = resources.files(__package__).joinpath("builtin.json").read_text()
    return frozenset(name for name, entry in json.loads(text).items() if "" in entry)


@lru_cache(maxsize=1)
def inlined() -> MappingProxyType[str, MappingProxyType[int, str]]:
    """Return, per struct, the messages in its protobuf message whose fields JSON inlines."""
    text = resources.files(__package__).joinpath("builtin.json").read_text()
    return MappingProxyType(
        {
            name: MappingProxyType(
                {
                    int(key.removeprefix("inline:")): type_
                    for key, type_ in entry.items()
                    if key.startswith("inline:")
                }
            )
            for name, entry in json.loads(text).items()
        }
    )


def _struct(entry: dict[str, str]) -> Struct:
    return MappingProxyType(
        {
            name: _field(name, spec)
            for name, spec in entry.items()
            if name and not name.startswith("inline:")
        }
    )


def _field(name: str, spec: str) -> Field:
    type_, *options = spec.split(" ")
    values = dict(option.partition("=")[::2] for option in options)
    list_type, _, keys = values.get("list", "atomic").partition(":")
    return Field(
        name=name,
        type=type_,
        omitempty="omitempty" in values,
        omitzero="omitzero" in values,
        merge_key=values.get("merge"),
        retain_keys="retainKeys" in values,
        list_type=list_type,
        list_keys=tuple(keys.split(",")) if keys else (),
        atomic="atomic" in values,
        number=int(values.get("number", "0")),
        choices=tuple(values["enum"].split("|")) if "enum" in values else (),
        go_type=values.get("go", ""),
        embedded=values.get("in", ""),
        go_name=values.get("field", name[:1].upper() + name[1:]),
    )


OBJECT_META: Final = "meta/v1.ObjectMeta"
