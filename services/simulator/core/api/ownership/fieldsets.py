"""Sets of fields: the parts of a value, what differs, and the wire form `fieldsV1`.

A field is a path: a tuple of `f:name`, `k:{"key":"value"}` and `v:"value"` steps, as `fieldsV1`
spells them.

Source: Kubernetes documentation, "Server-Side Apply"; KEP-555.
"""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from services.simulator.core.api.frozen import FrozenDict
from services.simulator.core.api.ownership.shapes import Kind, Shape

Path = tuple[str, ...]
Fields = frozenset[Path]

NONE: Fields = frozenset()
_LEAF: dict[str, Any] = FrozenDict()


def fields_of(value: Any, shape: Shape) -> Fields:
    """Return the fields that a value sets: leaves, empty containers, items of keyed lists."""
    return frozenset(_leaves(value, shape, ()))


def _leaves(value: Any, shape: Shape, path: Path) -> Iterator[Path]:
    parts = _parts(value, shape)
    if not parts:
        yield path
    for step, part, inner in parts:
        if shape.kind is Kind.KEYED:
            yield (*path, step)
        if shape.kind is Kind.SET:
            yield (*path, step)
        else:
            yield from _leaves(part, inner, (*path, step))


def difference(old: Any, new: Any, shape: Shape) -> tuple[Fields, Fields]:
    """Return the fields that were added or changed, and those that were removed."""
    changed: set[Path] = set()
    removed: set[Path] = set()
    _compare(old, new, shape, (), (changed, removed))
    return frozenset(changed), frozenset(removed)


def _compare(
    old: Any, new: Any, shape: Shape, path: Path, found: tuple[set[Path], set[Path]]
) -> None:
    changed, removed = found
    if not _has_parts(old, new, shape):
        if old != new:
            changed.add(path)
        return
    before = {step: (part, inner) for step, part, inner in _parts(old, shape)}
    after = {step: (part, inner) for step, part, inner in _parts(new, shape)}
    for step, (part, inner) in after.items():
        if step not in before:
            changed.update(_everything(part, inner, (*path, step)))
        elif shape.kind is not Kind.SET:
            _compare(before[step][0], part, inner, (*path, step), found)
    for step, (part, inner) in before.items():
        if step not in after:
            removed.update(_everything(part, inner, (*path, step)))


def _has_parts(old: Any, new: Any, shape: Shape) -> bool:
    if shape.kind is Kind.ATOMIC:
        return False
    container = dict if shape.kind is Kind.GRANULAR else list
    return all(value is None or isinstance(value, container) for value in (old, new)) and (
        old is not None or new is not None
    )


def _everything(value: Any, shape: Shape, path: Path) -> Iterator[Path]:
    """Yield a path and all below it, containers included."""
    yield path
    if shape.kind is not Kind.SET:
        for step, part, inner in _parts(value, shape):
            yield from _everything(part, inner, (*path, step))
    else:
        yield from ((*path, step) for step, _part, _inner in _parts(value, shape))


def _parts(value: Any, shape: Shape) -> list[tuple[str, Any, Shape]]:
    """Return the parts of a value with the steps that lead to them."""
    if shape.kind is Kind.GRANULAR and isinstance(value, dict):
        return [(f"f:{name}", part, shape.member(name)) for name, part in value.items()]
    if shape.kind is Kind.KEYED and isinstance(value, list):
        return [(key_step(item, shape), item, shape.member("")) for item in value]
    if shape.kind is Kind.SET and isinstance(value, list):
        return [(value_step(item), item, shape) for item in value]
    return []


def repeated(value: Any, shape: Shape, path: Path = ()) -> Path | None:
    """Return the path of the first item that a list has twice, None if there is none."""
    seen: set[str] = set()
    for step, part, inner in _parts(value, shape):
        below = (*path, step)
        if step in seen:
            return below
        seen.add(step)
        found = None if shape.kind is Kind.SET else repeated(part, inner, below)
        if found is not None:
            return found
    return None


def key_step(item: Any, shape: Shape) -> str:
    """Return the step to an item of a keyed list; the default of `protocol` is TCP."""
    members = item if isinstance(item, Mapping) else {}
    keys = {name: members.get(name, "TCP" if name == "protocol" else None) for name in shape.keys}
    return f"k:{_json({name: keys[name] for name in sorted(keys)})}"


def value_step(item: Any) -> str:
    """Return the step to an item of a set."""
    return f"v:{_json(item)}"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def encode(fields: Fields) -> dict[str, Any]:
    """Return the `fieldsV1` form; its members are in order, as Kubernetes writes them."""
    tree: dict[str, Any] = {}
    for path in sorted(fields):
        node = tree
        for step in path[:-1]:
            below = node.setdefault(step, {})
            if below is _LEAF:
                below = node[step] = {".": _LEAF}
            node = below
        node[path[-1]] = _LEAF
    return tree


def tree_of_new(zero: Mapping[str, Any], new: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the `fieldsV1` form of what a new object sets.

    The same as `encode(difference(zero, new, shape)[0])`, without making the set: most objects are
    only created.

    Args:
        zero: what an object has that sets nothing.
        new: the object.
        shape: of both, a struct or map.
    """
    tree: dict[str, Any] = {}
    for name, value in new.items():
        step, inner = shape.step(name)
        before = zero.get(name)
        if isinstance(before, dict) and isinstance(value, dict) and inner.kind is Kind.GRANULAR:
            below = tree_of_new(before, value, inner)
            if below:
                tree[step] = below
        elif name not in zero:
            tree[step] = _tree_of_part(value, inner)
        elif before != value and not _is_hollow(value, inner):
            whole = dict(_tree_of_part(value, inner))
            whole.pop(".", None)
            tree[step] = whole
    return tree


def _is_hollow(value: Any, shape: Shape) -> bool:
    """Tell whether a value has no part, so that nothing of it differs from nothing."""
    return not value and isinstance(value, dict | list) and shape.kind is not Kind.ATOMIC


def _tree_of_part(value: Any, shape: Shape) -> dict[str, Any]:
    """Return the tree of a value; for one that others have as well, at the price of its JSON."""
    if not value or not isinstance(value, dict | list) or shape.kind is Kind.ATOMIC:
        return _LEAF
    if not shape.lasting:
        return _tree_of(value, shape)
    return _tree_of_text(msgspec.json.encode(value), shape)


@lru_cache(maxsize=4096)
def _tree_of_text(text: bytes, shape: Shape) -> dict[str, Any]:
    return FrozenDict(_tree_of(msgspec.json.decode(text), shape))


def _tree_of(value: Any, shape: Shape) -> dict[str, Any]:
    """Return the tree of a value and of all below it."""
    if not value or not isinstance(value, dict | list):
        return _LEAF
    tree = _inside(value, shape)
    if not tree:
        return _LEAF
    tree["."] = _LEAF
    return tree


def _inside(value: Any, shape: Shape) -> dict[str, Any] | None:
    """Return the trees of a value's parts, None if it is owned as a whole."""
    kind = shape.kind
    if kind is Kind.GRANULAR and isinstance(value, dict):
        tree = {}
        for name, part in value.items():
            step, inner = shape.step(name)
            tree[step] = _tree_of(part, inner)
        return tree
    if kind is Kind.KEYED and isinstance(value, list):
        return {key_step(item, shape): _tree_of(item, shape.member("")) for item in value}
    if kind is Kind.SET and isinstance(value, list):
        return dict.fromkeys(map(value_step, value), _LEAF)
    return None


def decode(tree: Mapping[str, Any]) -> Fields:
    """Return the set behind a `fieldsV1` form."""
    return frozenset(_decode(tree, ()))


def _decode(tree: Mapping[str, Any], path: Path) -> Iterator[Path]:
    for step, below in tree.items():
        if step == ".":
            yield path
        elif not below:
            yield (*path, step)
        else:
            yield from _decode(below, (*path, step))


def shown(path: Path) -> str:
    """Return a path as conflicts name it (`.spec.containers[name="c"].image`)."""
    text = ""
    for step in path:
        kind, _, rest = step.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            keys = json.loads(rest)
            text += "[" + ",".join(f"{name}={_json(value)}" for name, value in keys.items()) + "]"
        else:
            text += f"[={rest}]"
    return text
