"""Field managers: who set which fields, kept in `metadata.managedFields`.

Every write over HTTP names a manager. An update gives it the fields it changed and takes them from
all others; an apply gives it exactly the fields it sent.

Source: Kubernetes documentation, "Server-Side Apply": managers, operations, subresources.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec

from services.simulator.core.api.frozen import FrozenDict, freeze
from services.simulator.core.api.ownership import fieldsets, shapes
from services.simulator.core.api.ownership.fieldsets import Fields, Path
from services.simulator.core.api.ownership.shapes import Shape
from services.simulator.core.api.reading import blank
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
Managing = Callable[[Object | None, Object], list[Object]]
"""(stored state, new state) → the `managedFields` to store."""

_NOBODYS_METADATA = (
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
)
_NOBODYS = frozenset({("f:apiVersion",), ("f:kind",), ("f:metadata",)}) | {
    ("f:metadata", f"f:{name}") for name in _NOBODYS_METADATA
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """One entry of `managedFields`."""

    name: str
    operation: str
    api_version: str
    subresource: str = ""
    time: str = ""
    fields: Fields = fieldsets.NONE

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return what tells entries apart."""
        return self.name, self.operation, self.api_version, self.subresource

    def encode(self) -> Object:
        """Return the entry."""
        entry: Object = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fieldsets.encode(self.fields),
            "subresource": self.subresource,
        }
        return {name: value for name, value in entry.items() if value != ""}


def decode_managers(entries: Iterable[Mapping[str, Any]]) -> list[Manager]:
    """Return the managers in `managedFields`."""
    return [
        Manager(
            name=entry.get("manager", ""),
            operation=entry.get("operation", ""),
            api_version=entry.get("apiVersion", ""),
            subresource=entry.get("subresource", ""),
            time=entry.get("time", ""),
            fields=fieldsets.decode(entry.get("fieldsV1") or {}),
        )
        for entry in entries
    ]


def shape_of(resource: Resource) -> Shape:
    """Return the shape of a resource's objects."""
    if resource.custom:
        return shapes.of_custom(resource.schema or {})
    return shapes.of_type(resource.type)


def ownable(fields: Fields, resource: Resource, subresource: str) -> Fields:
    """Return what a manager can own through an endpoint: not identity, not the other half."""
    other_half = ("f:spec",) if subresource == "status" else ("f:status",)
    resets = resource.has_status

    def is_ownable(path: Path) -> bool:
        return path not in _NOBODYS and not (resets and path[:1] == other_half)

    return frozenset(path for path in fields if is_ownable(path))


def by_update(resource: Resource, me: Manager) -> Managing:
    """Return the bookkeeping of an update by `me`, whose time is the present."""

    def manage(old: Object | None, new: Object) -> list[Object]:
        if old is None:
            return _of_creator(resource, new, me)
        before = old
        changed, removed = fieldsets.difference(before, new, shape_of(resource))
        changed, removed = (ownable(part, resource, me.subresource) for part in (changed, removed))
        managers = decode_managers(before["metadata"].get("managedFields", ()))
        if not changed and not removed:
            return [manager.encode() for manager in managers]
        mine = next((manager for manager in managers if manager.key == me.key), me)
        others = [
            replace(manager, fields=manager.fields - changed - removed)
            for manager in managers
            if manager.key != me.key
        ]
        own = replace(mine, fields=(mine.fields | changed) - removed, time=me.time)
        return [manager.encode() for manager in _sorted([*others, own])]

    return manage


def instead(
    managing: Managing, old: Object | None, new: Object, sent: Sequence[Object]
) -> list[Object]:
    """Return the `managedFields` after a write whose client sent some of its own.

    Clients that do not know of them send none or send them back. One empty entry asks for none;
    what cannot be read is ignored.
    """
    if old is None or not sent or not _are_readable(sent):
        return [] if old is not None and _ask_for_none(sent) else managing(old, new)
    return managing({**old, "metadata": {**old["metadata"], "managedFields": [*sent]}}, new)


def _ask_for_none(sent: Sequence[Object]) -> bool:
    return len(sent) == 1 and not any(sent[0].values())


def _are_readable(sent: Sequence[Object]) -> bool:
    return all(
        entry.get("apiVersion")
        and entry.get("fieldsType") == "FieldsV1"
        and isinstance(entry.get("fieldsV1"), dict)
        for entry in sent
    )


def _of_creator(resource: Resource, new: Object, me: Manager) -> list[Object]:
    before = {**blank(resource), "metadata": {}}
    owned = new
    if resource.has_status:
        owned = {name: value for name, value in new.items() if name != "status"}
    tree = fieldsets.tree_of_new(before, owned, shape_of(resource))
    metadata = tree.pop("f:metadata", {})
    kept = {step: below for step, below in metadata.items() if step[2:] not in _NOBODYS_METADATA}
    tree = {step: below for step, below in tree.items() if (step,) not in _NOBODYS}
    if kept:
        tree["f:metadata"] = kept
    return (
        [{**me.encode(), "fieldsV1": _shared(msgspec.json.encode(tree, order="sorted"))}]
        if tree
        else []
    )


@lru_cache(maxsize=1024)
def _shared(tree: bytes) -> FrozenDict:
    """Return a tree of fields as one value for all who have the same: pods of one template do."""
    frozen: FrozenDict = freeze(msgspec.json.decode(tree))
    return frozen


def _sorted(managers: list[Manager]) -> list[Manager]:
    kept = [manager for manager in managers if manager.fields]
    return sorted(kept, key=lambda manager: (manager.operation, manager.time, manager.name))


def by_apply(managers: list[Manager], me: Manager) -> Managing:
    """Return the bookkeeping of an apply by `me` beside the other `managers`."""

    def manage(old: Object | None, new: Object) -> list[Object]:
        before = (
            decode_managers(old["metadata"].get("managedFields", ())) if old is not None else []
        )
        mine = next((manager for manager in before if manager.key == me.key), None)
        if old is not None and _same(old, new):
            time = mine.time if mine is not None else ""
        else:
            time = me.time
        return [manager.encode() for manager in _sorted([*managers, replace(me, time=time)])]

    return manage


def _same(old: Object, new: Object) -> bool:
    """Tell whether two states differ in nothing but bookkeeping."""
    return _bare(old) == _bare(new)


def _bare(obj: Object) -> Object:
    metadata = {
        name: value
        for name, value in obj["metadata"].items()
        if name not in ("managedFields", "resourceVersion")
    }
    return {**obj, "metadata": metadata}
