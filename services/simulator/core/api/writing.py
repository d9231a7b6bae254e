"""From what a client sends to a decoded object, strictly or with warnings.

Shared by create, update and patch; built-in types go through the codec, custom ones keep their body
for their schema and only have their metadata decoded.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from libs.apiserver.crd.admission import CompiledVersion
from libs.apiserver.crd.embedded import Malformed
from libs.apiserver.metadata import drop_repeated_owners
from libs.apiserver.types import codec, walking
from libs.apiserver.types.mismatch import Mismatch
from libs.apiserver.types.table import OBJECT_META
from services.simulator.core.api.access.users import ADMIN, User
from services.simulator.core.api.errors import bad_request
from services.simulator.core.api.ownership.managers import Managing
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.scheme import wrong_kind
from services.simulator.core.api.storage import Version

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """How a write is meant."""

    dry_run: bool = False
    field_validation: str = "Ignore"
    """`Strict` refuses unknown fields, `Warn` warns of them, `Ignore` drops them silently."""

    duplicates: tuple[str, ...] = ()
    """Paths of members that stood twice in the JSON text; the last one counted."""

    manager: str = ""
    """Field manager; empty for callers in the process, whose writes leave `managedFields` alone."""

    named_manager: bool = False
    """Whether the client named the manager itself, as an apply must."""

    force: bool = False
    """Whether an apply takes fields from their owners."""

    user: User = ADMIN
    """Who writes."""

    managing: Managing | None = None
    """What keeps `managedFields`, if not the usual bookkeeping of an update."""


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
    managers: list[Object] | None = None
    """The `managedFields` that were sent."""


DEFAULTS = WriteOptions()


def unchanged_members(raw: Object, old: Object) -> Object:
    """Return the members of a stored object that somebody in the process hands back untouched.

    They are canonical and need no decoding; what comes over HTTP never has any.
    """
    return {
        name: old[name]
        for name in ("metadata", "spec")
        if name in old and raw.get(name) is old[name]
    }


def decode(resource: Resource, raw: Any, options: WriteOptions = DEFAULTS) -> Decoded:
    """Return an object of a built-in type in canonical form, its own value; raises a 400."""
    if not isinstance(raw, dict):
        raise bad_request(f"{unreadable(resource)}: the body is no object")
    kind, version = raw.get("kind"), raw.get("apiVersion")
    if (kind and kind != resource.kind) or (version and version != resource.group_version):
        raise wrong_kind(resource, str(kind or ""), str(version or ""))
    decoding = codec.Decoding()
    try:
        obj = codec.decode(resource.type, raw, decoding)
    except Mismatch as mismatch:
        raise bad_request(f"{unreadable(resource)}: {mismatch.message()}") from mismatch
    obj["kind"], obj["apiVersion"] = resource.kind, resource.group_version
    unknown = decoding.unknown and options.field_validation != "Ignore"
    paths = _unknown(resource.type, raw) if unknown else []
    return _complain(resource, obj, paths, options)


def _unknown(type_: str, raw: Any) -> list[str]:
    return [one.path for one in walking.unknown_fields(type_, raw)]


def decode_custom(
    resource: Resource, schema: CompiledVersion, raw: Any, options: WriteOptions = DEFAULTS
) -> Decoded:
    """Return a custom object with its metadata decoded, pruned and defaulted; raises a 400."""
    _check_custom_type(resource, raw, options)
    decoding = codec.Decoding()
    try:
        sent = raw.get("metadata")
        metadata = codec.decode(OBJECT_META, {} if sent is None else sent, decoding)
    except Mismatch as mismatch:
        raise bad_request(f"{unreadable(resource)}: {mismatch.message()}") from mismatch
    prepared, unknown = schema.prepare(raw)
    prepared["metadata"] = metadata
    try:
        paths = [*unknown, *schema.coerce(prepared)]
    except Malformed as malformed:
        raise bad_request(f"{unreadable(resource)}: {malformed}") from malformed
    if decoding.unknown:
        found = _unknown(OBJECT_META, raw.get("metadata"))
        paths = [f"metadata.{path}" for path in found] + paths
    return _complain(resource, prepared, paths, options)


def _complain(
    resource: Resource, obj: Object, unknown: list[str], options: WriteOptions
) -> Decoded:
    """Warn of unknown and repeated fields, or refuse them, as the options say."""
    problems = [f'unknown field "{path}"' for path in unknown]
    problems += [f'duplicate field "{path}"' for path in options.duplicates]
    if problems and options.field_validation == "Strict":
        raise bad_request(f"{unreadable(resource)}: strict decoding error: {', '.join(problems)}")
    warned = problems if options.field_validation == "Warn" else []
    return Decoded(obj, [*warned, *drop_repeated_owners(obj["metadata"])])


def _check_custom_type(resource: Resource, raw: Any, options: WriteOptions) -> None:
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not kind or not isinstance(kind, str):
        text = json.dumps(raw)
        why = f"Object 'Kind' is missing in '{text}'"
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({text})"
        )
    version = raw.get("apiVersion") or ""
    if version != resource.group_version:
        refusal = bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.group_version})"
        )
        extra = [name for name in raw if name not in ("apiVersion", "kind", "metadata")]
        if options.field_validation == "Warn" and str(version).startswith(f"{resource.group}/"):
            # A version without a schema knows no field, and pruning comes before the refusal.
            refusal.warnings = tuple(f'unknown field "{name}"' for name in extra)
        raise refusal


def decode_typed(type_: str, value: Any) -> Object:
    """Return the canonical form of an option object or the like; raises a 400."""
    kind = type_.rpartition(".")[2]
    try:
        decoded: Object = codec.decode(type_, value, codec.Decoding())
    except Mismatch as mismatch:
        why = f'{kind} in version "v1" cannot be handled as a {kind}: {mismatch.message()}'
        raise bad_request(why) from mismatch
    return decoded


def unreadable(resource: Resource) -> str:
    """Return how a decoding error begins."""
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
