"""Apply a patch of any type to a stored object and hand the outcome to the store's update path."""

from typing import Any

from libs.apiserver import field_errors
from services.simulator.core.api import errors
from services.simulator.core.api.patching import merge, operations, quoting, strategic
from services.simulator.core.api.patching.types import PatchType
from services.simulator.core.api.placement import check_identity
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version
from services.simulator.core.api.store import Object, Store
from services.simulator.core.api.writing import DEFAULTS, Decoded, WriteOptions, Written

REJECTED = "the server rejected our request due to an error in our request"


def patch(
    store: Store,
    resource: str | Resource,
    name: str,
    change: Any,
    *,
    namespace: str = "",
    type_: PatchType = PatchType.MERGE,
    subresource: str = "",
    options: WriteOptions = DEFAULTS,
) -> Written:
    """Patch an object or its status; raises 400, 404, 409, 415, 422."""
    kind = store.resource(resource)
    old = store.read(kind, name, namespace)
    patched = apply_patch(kind, old.object, change, type_)
    try:
        decoded = store.decode(kind, patched, options)
    except errors.ApiError as error:
        raise _undecodable(kind, quoting.Patched(patched, change, type_), error) from error
    return _replace(store, kind, old, decoded, subresource, options)


def apply_patch(resource: Resource, current: Object, change: Any, type_: PatchType) -> Any:
    """Return the object after the patch, not yet decoded."""
    if type_ is PatchType.JSON:
        if not isinstance(change, list):
            raise errors.bad_request("error decoding patch: a JSON patch is a list of operations")
        try:
            return operations.apply(current, change)
        except operations.Failed as failed:
            raise errors.ApiError(422, "Invalid", REJECTED, {}) from failed
    if not isinstance(change, dict):
        raise errors.bad_request("error decoding patch: a patch is an object")
    if type_ is PatchType.MERGE:
        return merge.apply(current, change)
    if resource.custom:
        raise unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml"
        )
    try:
        return strategic.apply(current, change, resource.type)
    except strategic.Failed as failed:
        raise errors.ApiError(
            failed.code, "BadRequest" if failed.code == 400 else "", str(failed)
        ) from failed


def unsupported_media_type(message: str) -> errors.ApiError:
    """Return a 415."""
    return errors.ApiError(415, "UnsupportedMediaType", message)


def _replace(
    store: Store,
    resource: Resource,
    old: Version,
    decoded: Decoded,
    subresource: str,
    options: WriteOptions,
) -> Written:
    meta, current = decoded.object["metadata"], old.object["metadata"]
    check_identity(resource, meta, current["name"], current.get("namespace", ""))
    revision = meta.get("resourceVersion", current["resourceVersion"])
    if revision != current["resourceVersion"]:
        raise errors.conflict(resource, current["name"])
    return store.replace(resource, old, decoded, subresource=subresource, options=options)


def _undecodable(
    resource: Resource, patched: quoting.Patched, error: errors.ApiError
) -> errors.ApiError:
    """Return the 422 that quotes the patched object, as Kubernetes does."""
    _, known, rest = str(error).partition(f" cannot be handled as a {resource.kind}: ")
    message = rest if known else str(error)
    obj = patched.object
    version = obj.get("apiVersion") if isinstance(obj, dict) else ""
    if not resource.custom and version not in ("", resource.group_version):
        scheme = "pkg/api/legacyscheme/scheme.go:30"
        kind = obj.get("kind", "")
        message = f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"'
    text, message = quoting.quoted(resource, patched, message, error)
    return errors.invalid("", "", "", [field_errors.wrong("patch", text, message)])
