"""Strategic merge patch: like a merge patch, but lists with a merge key are merged item by item.

Which lists those are, and by which key, is in the field table of the built-in types. Understood:
`$patch` (replace, delete, merge) in objects and items, `$retainKeys`, `$deleteFromPrimitiveList/…`,
`$setElementOrder/…`.

Source: Kubernetes documentation, "Update API Objects in Place Using kubectl patch"; KEP-511
(element order).
"""

from collections.abc import Callable
from typing import Any

from libs.apiserver.types import table

_DELETE = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"
_DIRECTIVES = ("$patch", "$retainKeys")


class Failed(ValueError):
    """A patch that has no meaning for this type.

    `code` is the HTTP status that Kubernetes answers.
    """

    def __init__(self, message: str, code: int = 500) -> None:
        super().__init__(message)
        self.code = code


def apply(target: Any, patch: Any, type_: str) -> Any:
    """Return `target`, an object of a built-in type, with `patch` merged in.

    The input is not changed.
    """
    if not isinstance(patch, dict):
        raise Failed("unable to parse patch", 400)
    return _merge_object(target or {}, patch, type_)


def _merge_object(target: dict[str, Any], patch: dict[str, Any], type_: str) -> dict[str, Any]:
    if "$patch" in patch:
        return _directed(patch)
    merged = dict(target)
    if "$retainKeys" in patch:
        kept = _a_list(patch["$retainKeys"], "$retainKeys")
        merged = {name: value for name, value in merged.items() if name in kept}
    struct = table.struct_of(type_)
    for name in _names(patch):
        entry = struct.get(name) if struct else None
        _merge_field(merged, patch, name, entry)
    return merged


def _directed(patch: dict[str, Any]) -> dict[str, Any]:
    """Return what stands in for an object that a directive replaces or deletes."""
    directive = patch["$patch"]
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    if directive == "delete":
        return {}
    shown = " ".join(f"{name}:{patch[name]}" for name in sorted(patch))
    raise Failed(f"unknown patch type: {directive} in map: map[{shown}]")


def _a_list(value: Any, directive: str) -> list[Any]:
    if not isinstance(value, list):
        raise Failed(f"invalid value for {directive}: a list was expected", 400)
    return value


def _names(patch: dict[str, Any]) -> list[str]:
    """Return the fields that a patch speaks of, by value or by directive, each once."""
    found: dict[str, None] = {}
    for name in patch:
        if name not in _DIRECTIVES:
            found[name.removeprefix(_DELETE).removeprefix(_ORDER)] = None
    return list(found)


def _merge_field(
    merged: dict[str, Any], patch: dict[str, Any], name: str, entry: table.Field | None
) -> None:
    current = merged.get(name)
    deleted = patch.get(f"{_DELETE}{name}")
    if isinstance(deleted, list) and isinstance(current, list):
        current = merged[name] = [item for item in current if item not in deleted]
    order = patch.get(f"{_ORDER}{name}")
    if order is not None:
        order = _a_list(order, _ORDER + name)
    if name in patch and patch[name] is None:
        merged.pop(name, None)
    elif name in patch or order is not None:
        value = patch.get(name)
        merge_key = entry.merge_key if entry is not None else None
        if (
            (isinstance(value, list) or value is None)
            and entry is not None
            and merge_key is not None
        ):
            merged[name] = _merge_list(current, value or [], entry, order)
        elif isinstance(value, dict) and isinstance(current, dict):
            type_ = "" if entry is None or entry.is_map else entry.type
            merged[name] = _merge_object(current, value, type_)
        elif isinstance(value, list) and isinstance(current, list):
            merged[name] = value
        elif _is_directed(value):
            merged.pop(name, None)
        elif name in patch:
            merged[name] = _clean(value)


def _merge_list(
    current: Any, patch: list[Any], entry: table.Field, order: list[Any] | None
) -> list[Any]:
    original = list(current) if isinstance(current, list) else []
    key = entry.merge_key or ""
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in patch):
        return [_clean(item) for item in patch if item.get("$patch") != "replace"]
    if not key:
        merged = original + [item for item in patch if item not in original]
        return _ordered(merged, original, patch if order is None else order, lambda item: item)
    merged = list(original)
    touched: list[Any] = []
    for item in patch:
        identity = _identity(item, key)
        at = next((index for index, old in enumerate(merged) if old.get(key) == identity), None)
        if item.get("$patch") == "delete":
            merged = [old for old in merged if old.get(key) != identity]
            continue
        touched.append(identity)
        if at is None:
            merged.append(_clean(item))
        else:
            merged[at] = _merge_object(merged[at], item, entry.item_type)
    wanted = touched if order is None else [_identity(item, key) for item in order]
    return _ordered(
        merged, [item.get(key) for item in original], wanted, lambda item: item.get(key)
    )


def _identity(item: Any, key: str) -> Any:
    if not isinstance(item, dict):
        raise Failed("unable to find the merge key in a list item that is no object")
    if key not in item:
        shown = " ".join(f"{name}:{value}" for name, value in sorted(item.items()))
        raise Failed(f"map: map[{shown}] does not contain declared merge key: {key}")
    return item[key]


def _ordered(
    merged: list[Any], original: list[Any], wanted: list[Any], identify: Callable[[Any], Any]
) -> list[Any]:
    """Put the items a patch names in its order, the others where they stood relative to those.

    New ones go first.
    """
    ranks = {repr(identity): rank for rank, identity in enumerate(wanted)}
    named = sorted(
        (item for item in merged if repr(identify(item)) in ranks),
        key=lambda item: ranks[repr(identify(item))],
    )
    others = [item for item in merged if repr(identify(item)) not in ranks]
    places = {repr(identity): place for place, identity in enumerate(original)}
    result: list[Any] = []
    while named and others:
        place = places.get(repr(identify(named[0])))
        before = place is not None and places.get(repr(identify(others[0])), -1) < place
        result.append(others.pop(0) if before else named.pop(0))
    return result + named + others


def _clean(value: Any) -> Any:
    """Drop nulls and what has a directive from a value that stands in for a missing one."""
    if isinstance(value, dict):
        return {
            name: _clean(item)
            for name, item in value.items()
            if item is not None and not _is_directed(item)
        }
    if isinstance(value, list):
        return [_clean(item) for item in value if not _is_directed(item)]
    return value


def _is_directed(value: Any) -> bool:
    return isinstance(value, dict) and "$patch" in value
