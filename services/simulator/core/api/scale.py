"""The scale subresource: one small object in front of the replicas of many kinds.

Source: Kubernetes API reference, autoscaling/v1 Scale.
"""

from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.patching import merge, operations
from services.simulator.core.api.patching.engine import REJECTED, PatchType
from services.simulator.core.api.placement import uid_mismatch
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import WriteOptions, Written

_SHORT = {"In": "in", "NotIn": "notin"}


def read(store: Store, resource: Resource, name: str, namespace: str) -> Object:
    """Return the Scale of an object; raises the 404."""
    return _scale_of(resource, store.read(resource, name, namespace).object)


def update(
    store: Store, resource: Resource, name: str, namespace: str, scale: Any, options: WriteOptions
) -> Object:
    """Set the replicas of an object; raises 400, 404, 409, 422."""
    old = store.read(resource, name, namespace)
    if not isinstance(scale, dict):
        raise errors.bad_request("the body is no Scale")
    meta = scale.get("metadata") or {}
    if meta.get("name", name) != name:
        raise errors.bad_request(
            f"the name of the object ({meta['name']}) does not match the name on the URL ({name})"
        )
    current = old.object["metadata"]
    if meta.get("uid", current["uid"]) != current["uid"]:
        raise uid_mismatch(resource, old, meta["uid"])
    if (meta.get("resourceVersion") or current["resourceVersion"]) != current["resourceVersion"]:
        raise errors.conflict(resource, name)
    return _scale_of(resource, _set(store, resource, old, scale, options).object)


def patch(
    store: Store,
    resource: Resource,
    name: str,
    namespace: str,
    change: Any,
    type_: PatchType,
    options: WriteOptions,
) -> Object:
    """Patch the Scale of an object; raises 400, 404, 409, 422."""
    current = read(store, resource, name, namespace)
    if type_ is PatchType.JSON:
        try:
            patched = operations.apply(current, change)
        except operations.Failed as failed:
            raise errors.ApiError(422, "Invalid", REJECTED, {}) from failed
    else:
        patched = merge.apply(current, change)
    return update(store, resource, name, namespace, patched, options)


def _set(
    store: Store, resource: Resource, old: Version, scale: Object, options: WriteOptions
) -> Written:
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise errors.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal '
            "into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    if replicas < 0:
        wrong = errors.wrong("spec.replicas", replicas, "must be greater than or equal to 0")
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
    selector = obj["spec"].get("selector") or {}
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(
            f"{key}={value}" for key, value in sorted(selector.items()) if isinstance(value, str)
        )
    terms = [(key, f"{key}={value}") for key, value in selector.get("matchLabels", {}).items()]
    terms += [(entry["key"], _term(entry)) for entry in selector.get("matchExpressions", ())]
    return ",".join(text for _key, text in sorted(terms))


def _term(entry: Object) -> str:
    key, operator = entry["key"], entry["operator"]
    if operator in _SHORT:
        return f"{key} {_SHORT[operator]} ({','.join(sorted(entry.get('values', ())))})"
    return key if operator == "Exists" else f"!{key}"
