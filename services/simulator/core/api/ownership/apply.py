"""Server-side apply: merge what a manager wants into what is there, unless others own it.

Source: Kubernetes documentation, "Server-Side Apply": merge strategy, conflicts, forcing.
"""

from dataclasses import replace
from typing import Any

import msgspec

from libs.apiserver.field_errors import FieldError
from libs.apiserver.types import codec, walking
from libs.apiserver.types.mismatch import Mismatch
from services.simulator.core.api import errors
from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.ownership import fieldsets
from services.simulator.core.api.ownership.fieldsets import Fields, Path
from services.simulator.core.api.ownership.managers import (
    Manager,
    by_apply,
    decode_managers,
    ownable,
    shape_of,
)
from services.simulator.core.api.ownership.shapes import Kind, Shape
from services.simulator.core.api.placement import check_identity
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import WriteOptions, Written

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KUBECTL = "kubectl"


def apply(
    store: Store,
    resource: Resource,
    config: Any,
    *,
    name: str,
    namespace: str,
    subresource: str,
    options: WriteOptions,
) -> Written:
    """Apply a configuration; raises 400, 404, 409 (conflicts), 422, 500 (against the schema)."""
    _check_request(resource, config, options)
    shape = shape_of(resource)
    _check_schema(resource, config)
    me = Manager(
        name=options.manager,
        operation="Apply",
        api_version=resource.group_version,
        subresource=subresource,
        time=store.timestamp(),
        fields=ownable(fieldsets.fields_of(config, shape), resource, subresource),
    )
    live = store.look(resource, name, namespace)
    if live is None:
        if subresource:
            raise errors.not_found(resource, name)
        check_identity(resource, dict(config.get("metadata") or {}), name, namespace)
        return store.create(
            resource, config, namespace, replace(options, managing=by_apply([], me))
        )
    merged, managers = _merge_into(resource, live.object, config, me, options)
    revision = (config.get("metadata") or {}).get("resourceVersion")
    if revision and revision != live.object["metadata"]["resourceVersion"]:
        raise errors.conflict(resource, name)
    decoded = store.decode(resource, merged, options)
    check_identity(resource, decoded.object["metadata"], name, namespace)
    managing = replace(options, managing=by_apply(managers, me))
    return store.replace(resource, live, decoded, subresource=subresource, options=managing)


def required_manager(options: WriteOptions) -> None:
    """Raise the 422 of an apply that does not name its manager."""
    if not options.named_manager:
        required = FieldError(
            "FieldValueRequired", "Required value: is required for apply patch", "fieldManager"
        )
        raise errors.invalid("PatchOptions", "meta.k8s.io", "", [required])


def _check_request(resource: Resource, config: Any, options: WriteOptions) -> None:
    required_manager(options)
    if not isinstance(config, dict):
        raise errors.bad_request("error decoding YAML: the body is no object")
    version, kind = config.get("apiVersion") or "", config.get("kind") or ""
    metadata = config.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise errors.bad_request("error decoding YAML: metadata is no object")
    if (version, kind) != (resource.group_version, resource.kind):
        group, _, plain = str(version).rpartition("/")
        raise errors.bad_request(f"invalid object type: {group}/{plain}, Kind={kind}")
    if metadata.get("managedFields") is not None:
        raise errors.bad_request("metadata.managedFields must be nil")


def _check_schema(resource: Resource, config: Object) -> None:
    """Raise the 500 of a configuration that its schema does not know."""
    if resource.custom:
        return
    unknown = [one.path for one in walking.unknown_fields(resource.type, config)]
    why = f".{unknown[0]}: field not declared in schema" if unknown else ""
    if not unknown and (repeated := fieldsets.repeated(config, shape_of(resource))) is not None:
        *above, step = repeated
        why = (
            f"{fieldsets.shown(tuple(above))}: duplicate entries for key {fieldsets.shown((step,))}"
        )
    elif not unknown:
        try:
            codec.decode(resource.type, config, codec.Decoding())
        except Mismatch as mismatch:
            why = f".{'.'.join(mismatch.path)}: {mismatch.message()}"
        else:
            return
    group, _, version = resource.group_version.rpartition("/")
    metadata = config.get("metadata") or {}
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}"
    subject = f"{place}; {group}/{version}, Kind={resource.kind}"
    raise errors.internal(f"failed to create typed patch object ({subject}): {why}")


def _merge_into(
    resource: Resource, live: Object, config: Object, me: Manager, options: WriteOptions
) -> tuple[Object, list[Manager]]:
    """Return the merged object and the other managers' fields after it; raises the 409."""
    shape = shape_of(resource)
    managers = _managers_of(resource, live, me)
    mine = next((manager for manager in managers if manager.key == me.key), None)
    others = [manager for manager in managers if manager.key != me.key]
    merged = merge(live, _without_identity(config), shape)
    changed, _removed = fieldsets.difference(live, merged, shape)
    changed = ownable(changed, resource, me.subresource)
    conflicts = [(manager, path) for manager in others for path in sorted(manager.fields & changed)]
    if conflicts and not options.force:
        conflicts = _beyond_client_side(live, conflicts, me, shape)
    if conflicts and not options.force:
        raise conflict(conflicts)
    others = [replace(manager, fields=manager.fields - changed) for manager in others]
    if mine is not None:
        kept = me.fields.union(*(manager.fields for manager in others))
        whole = merged
        merged = _prune(merged, shape, mine.fields - me.fields, kept)
        _changed, gone = fieldsets.difference(whole, merged, shape)
        others = [replace(manager, fields=manager.fields - gone) for manager in others]
    return merged, others


def _beyond_client_side(
    live: Object, conflicts: list[tuple[Manager, Path]], me: Manager, shape: Shape
) -> list[tuple[Manager, Path]]:
    """Return the conflicts but for fields that kubectl itself applied from the client's side."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    if me.name != _KUBECTL or not text:
        return conflicts
    try:
        applied = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return conflicts
    if not isinstance(applied, dict):
        return conflicts
    own = fieldsets.fields_of(applied, shape)
    return [(manager, path) for manager, path in conflicts if path not in own]


def _managers_of(resource: Resource, live: Object, me: Manager) -> list[Manager]:
    """Return the managers of an object; what nobody manages yet gets one for all of it."""
    managers = decode_managers(live["metadata"].get("managedFields", ()))
    if managers:
        return managers
    everything = ownable(fieldsets.fields_of(live, shape_of(resource)), resource, "")
    first = Manager(
        name="before-first-apply",
        operation="Update",
        api_version=resource.group_version,
        time=me.time,
        fields=everything,
    )
    return [first] if everything else []


def _without_identity(config: Object) -> Object:
    metadata = {
        name: value
        for name, value in (config.get("metadata") or {}).items()
        if name not in ("resourceVersion", "creationTimestamp", "managedFields")
    }
    return {**config, "metadata": metadata}


def merge(live: Any, config: Any, shape: Shape) -> Any:
    """Return `live` with `config` merged in, part by part."""
    if shape.kind is Kind.GRANULAR and isinstance(live, dict) and isinstance(config, dict):
        merged = dict(live)
        for name, value in config.items():
            inner = shape.member(name)
            merged[name] = merge(live[name], value, inner) if name in live else value
        return merged
    if isinstance(live, list) and isinstance(config, list):
        if shape.kind is Kind.SET:
            return live + [item for item in config if item not in live]
        if shape.kind is Kind.KEYED:
            return _merge_keyed(live, config, shape)
    return config


def _merge_keyed(live: list[Any], config: list[Any], shape: Shape) -> list[Any]:
    wanted = {fieldsets.key_step(item, shape): item for item in config}
    merged = []
    for item in live:
        step = fieldsets.key_step(item, shape)
        merged.append(merge(item, wanted[step], shape.member("")) if step in wanted else item)
    present = {fieldsets.key_step(item, shape) for item in live}
    return merged + [item for step, item in wanted.items() if step not in present]


def _prune(merged: Object, shape: Shape, dropped: Fields, kept: Fields) -> Object:
    """Remove the fields that a manager gave up and that nobody else owns.

    An item of a list goes even if others own some of its fields: who wants the item owns it.
    """
    held = {
        path[:length]
        for path in kept
        for length in range(1, len(path) + 1)
        if length == len(path) or not path[length - 1].startswith("k:")
    }
    pruned: Any = merged
    gone: set[Path] = set()
    for path in sorted(dropped, key=len):
        if path not in held and not any(path[:length] in gone for length in range(1, len(path))):
            pruned = _remove(pruned, shape, path)
            gone.add(path)
    return dict(pruned)


def _remove(value: Any, shape: Shape, path: Path) -> Any:
    step, rest = path[0], path[1:]
    if shape.kind is Kind.GRANULAR and isinstance(value, dict):
        name = step[2:]
        if name not in value:
            return value
        if not rest:
            return {key: item for key, item in value.items() if key != name}
        return {**value, name: _remove(value[name], shape.member(name), rest)}
    if isinstance(value, list) and shape.kind is Kind.SET:
        return [item for item in value if fieldsets.value_step(item) != step]
    if isinstance(value, list) and shape.kind is Kind.KEYED:
        if not rest:
            return [item for item in value if fieldsets.key_step(item, shape) != step]
        return [
            _remove(item, shape.member(""), rest)
            if fieldsets.key_step(item, shape) == step
            else item
            for item in value
        ]
    return value


def conflict(conflicts: list[tuple[Manager, Path]]) -> ApiError:
    """Return the 409 that names fields and their owners."""
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {_named(manager)}",
            "field": fieldsets.shown(path),
        }
        for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        listing = f"conflict with {_named(conflicts[0][0])}: {causes[0]['field']}"
    else:
        grouped: dict[str, list[str]] = {}
        for manager, path in conflicts:
            grouped.setdefault(_named(manager), []).append(fieldsets.shown(path))
        listing = "\n".join(
            "\n- ".join([f"conflicts with {name}:", *paths])
            for name, paths in sorted(grouped.items())
        )
    plural = "" if len(conflicts) == 1 else "s"
    message = f"Apply failed with {len(conflicts)} conflict{plural}: {listing}"
    return ApiError(409, "Conflict", message, {"causes": causes})


def _named(manager: Manager) -> str:
    text = f'"{manager.name}"'
    if manager.subresource:
        text += f' with subresource "{manager.subresource}"'
    return f"{text} using {manager.api_version}" if manager.operation == "Update" else text
