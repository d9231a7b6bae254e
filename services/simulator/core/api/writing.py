"""From what a client sends to a decoded object: strictness, warnings, and what subresources may change.

Shared by create, update and patch; built-in types go through the codec, custom ones keep their body for their schema
and only have their metadata decoded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from services.simulator.core.api.errors import ApiError, bad_request
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import Version
from services.simulator.core.types import codec
from services.simulator.core.types.table import OBJECT_META

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a write is meant."""

    dry_run: bool = False
    field_validation: str = "Ignore"
    """`Strict` refuses unknown fields, `Warn` warns of them, `Ignore` drops them silently."""

    duplicates: tuple[str, ...] = ()
    """Paths of members that stood twice in the JSON text; the last one counted."""

    manager: str = "unknown"
    """Field manager, for server-side apply."""

    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a write left behind; `version` is None where nothing was stored (dry run)."""

    object: Object
    version: Version | None = None
    warnings: tuple[str, ...] = ()
    created: bool = False
    gone: bool = False
    """Whether the object was deleted by this write."""


@dataclass(slots=True)
class Decoded:
    """A decoded object and what was odd about it."""

    object: Object
    warnings: list[str] = field(default_factory=list)


DEFAULTS = WriteOptions()


def decode(resource: Resource, raw: Any, options: WriteOptions = DEFAULTS) -> Decoded:
    """Return the object in canonical form, its own value; raises a 400."""
    if not isinstance(raw, dict):
        raise bad_request(f"unable to decode: the body is no {resource.kind}")
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if (kind and kind != resource.kind) or (version and version != resource.group_version):
        raise _wrong_type(resource, kind, version)
    decoding = codec.Decoding()
    try:
        obj = (
            decode_custom(raw, decoding)
            if resource.custom
            else codec.decode(resource.type, raw, decoding)
        )
    except codec.Mismatch as mismatch:
        raise bad_request(f"{unreadable(resource)}: {mismatch.message()}") from mismatch
    obj["kind"], obj["apiVersion"] = resource.kind, resource.group_version
    problems = [f'duplicate field "{path}"' for path in options.duplicates]
    if decoding.unknown and options.field_validation != "Ignore":
        paths = _unknown(resource, raw)
        problems = [f'unknown field "{path}"' for path in paths] + problems
    if problems and options.field_validation == "Strict":
        raise bad_request(f"{unreadable(resource)}: strict decoding error: {', '.join(problems)}")
    return Decoded(obj, problems if options.field_validation == "Warn" else [])


def decode_custom(raw: Mapping[str, Any], decoding: codec.Decoding) -> Object:
    """Decode the metadata of a custom object and copy the rest."""
    try:
        metadata = codec.decode(OBJECT_META, raw.get("metadata") or {}, decoding)
    except codec.Mismatch as mismatch:
        raise mismatch.under("metadata", "") from mismatch
    rest = {
        name: codec.copy(value)
        for name, value in raw.items()
        if name not in ("kind", "apiVersion", "metadata")
    }
    return {"apiVersion": "", "kind": "", "metadata": metadata, **rest}


def unreadable(resource: Resource) -> str:
    """Return how a decoding error begins."""
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'


def _unknown(resource: Resource, raw: Mapping[str, Any]) -> list[str]:
    if not resource.custom:
        return codec.unknown_fields(resource.type, raw)
    return [f"metadata.{path}" for path in codec.unknown_fields(OBJECT_META, raw.get("metadata"))]


def _wrong_type(resource: Resource, kind: str | None, version: str | None) -> ApiError:
    group, _, sent = (version or "").rpartition("/")
    return bad_request(
        f"the API version in the data ({version}) does not match the expected API version ({resource.group_version})"
        if version and version != resource.group_version
        else f"{kind} in version {sent!r} cannot be handled as a {resource.kind}: no kind {kind!r} is registered{group}"
    )
