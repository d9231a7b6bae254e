"""The scale subresource: one small object in front of the replicas of many kinds.

Source: Kubernetes API reference, autoscaling/v1 Scale.
"""

from dataclasses import replace
from typing import Any

from libs.apiserver import field_errors
from libs.apiserver.types import codec, walking
from libs.apiserver.types.mismatch import Mismatch
from services.simulator.core.api import errors
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.ownership import scaling
from services.simulator.core.api.patching import merge, operations
from services.simulator.core.api.patching.engine import REJECTED
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.placement import check_identity, uid_mismatch
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.selectors import selector_text
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import WriteOptions, Written

_NO_SCALE = (
    "no kind is registered for the type v1.Scale in scheme "
    '"pkg/apiserver/customresource_handler.go:781"'
)


def read(store: Store, resource: Resource, name: str, namespace: str) -> Object:
    """Return the Scale of an object; raises the 404."""
    return _scale_of(resource, store.read(resource, name, namespace).object)


def update(
    store: Store, resource: Resource, name: str, namespace: str, scale: Any, options: WriteOptions
) -> tuple[Object, tuple[str, ...]]:
    """Set the replicas of an object; returns its Scale and warnings; raises 400, 404, 409, 422."""
    old = store.read(resource, name, namespace)
    decoded, warnings = _decode(resource, scale, options)
    meta, current = decoded["metadata"], old.object["metadata"]
    check_identity(resource, dict(meta), name, namespace)
    if meta.get("uid", current["uid"]) != current["uid"]:
        raise uid_mismatch(resource, old, meta["uid"])
    if (meta.get("resourceVersion") or current["resourceVersion"]) != current["resourceVersion"]:
        raise errors.conflict(resource, name)
    with errors.warning(warnings):
        written = _set(store, resource, old, decoded["spec"].get("replicas", 0), options)
    return _scale_of(resource, written.object), (*warnings, *written.warnings)


def _decode(
    resource: Resource, scale: Any, options: WriteOptions
) -> tuple[Object, tuple[str, ...]]:
    """Return a Scale in canonical form and the warnings of unknown fields; raises a 400."""
    named = (scale.get("apiVersion"), scale.get("kind")) if isinstance(scale, dict) else None
    try:
        decoded: Object = codec.decode("autoscaling/v1.Scale", scale, codec.Decoding())
    except Mismatch as mismatch:
        message = f'Scale in version "v1" cannot be handled as a Scale: {mismatch.message()}'
        raise errors.bad_request(_NO_SCALE if resource.custom else message) from mismatch
    if named not in (("autoscaling/v1", "Scale"), (None, None)):
        raise errors.bad_request(_NO_SCALE)
    unknown = walking.unknown_fields("autoscaling/v1.Scale", scale)
    problems = tuple(f'unknown field "{one.path}"' for one in unknown)
    if problems and options.field_validation == "Strict":
        raise errors.bad_request(f"strict decoding error: {', '.join(problems)}")
    return decoded, problems if options.field_validation == "Warn" else ()


def patch(
    store: Store,
    resource: Resource,
    name: str,
    namespace: str,
    change: Any,
    type_: PatchType,
    options: WriteOptions,
) -> tuple[Object, tuple[str, ...]]:
    """Patch the Scale of an object; returns it and warnings; raises 400, 404, 409, 422."""
    if type_ is PatchType.APPLY:
        return _apply(store, resource, name, namespace, change, options)
    current = read(store, resource, name, namespace)
    if type_ is PatchType.JSON:
        try:
            patched = operations.apply(current, change)
        except operations.Failed as failed:
            raise errors.ApiError(422, "Invalid", REJECTED, {}) from failed
    else:
        patched = merge.apply(current, change)
    return update(store, resource, name, namespace, patched, options)


def _apply(
    store: Store, resource: Resource, name: str, namespace: str, config: Any, options: WriteOptions
) -> tuple[Object, tuple[str, ...]]:
    live = store.read(resource, name, namespace).object
    current = _scale_of(resource, live)
    wanted = (config.get("spec") or {}).get("replicas")
    changes = wanted is not None and wanted != current["spec"].get("replicas", 0)
    managing = scaling.bookkeeping(resource, live, config, changes=changes, options=options)
    patched = {**merge.apply(current, config), "metadata": current["metadata"]}
    managed = replace(options, managing=managing)
    return update(store, resource, name, namespace, patched, managed)


def _set(
    store: Store, resource: Resource, old: Version, replicas: int, options: WriteOptions
) -> Written:
    if replicas < 0 and not resource.custom:
        wrong = field_errors.wrong("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("Scale", "autoscaling", old.object["metadata"]["name"], [wrong])
    changed = thaw(old.object)
    assert resource.scale is not None
    target = changed
    *parents, last = resource.scale[0].removeprefix(".").split(".")
    for step in parents:
        target = target.setdefault(step, {})
    target[last] = replicas
    decoded = store.decode(resource, changed, options)
    return store.replace(resource, old, decoded, subresource="scale", options=options)


def _scale_of(resource: Resource, obj: Object) -> Object:
    assert resource.scale is not None
    spec_path, status_path, selector_path = resource.scale
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    status: Object = {"replicas": _read_path(obj, status_path) or 0}
    selector = _selector_text(resource, obj, selector_path)
    if selector:
        status["selector"] = selector
    replicas = _read_path(obj, spec_path)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: obj["metadata"][name] for name in kept if name in obj["metadata"]},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _read_path(obj: Object, path: str) -> Any:
    value: Any = obj
    for step in path.removeprefix(".").split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _selector_text(resource: Resource, obj: Object, path: str) -> str:
    if resource.custom:
        return str(_read_path(obj, path) or "") if path else ""
    return selector_text(obj["spec"].get("selector") or {})
