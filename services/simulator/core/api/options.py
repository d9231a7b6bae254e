"""Query parameters and option bodies as values; everything malformed is a 400."""

import re
from types import MappingProxyType
from typing import Any

from libs.apiserver.field_errors import FieldError, shown, wrong
from libs.apiserver.types import codec
from libs.apiserver.types.mismatch import Mismatch
from services.simulator.core.api.bodies import Unparsed, read_object
from services.simulator.core.api.deletion import DeleteOptions
from services.simulator.core.api.errors import bad_request, invalid
from services.simulator.core.api.messages import Request
from services.simulator.core.api.reading import ListOptions
from services.simulator.core.api.scheme import unregistered
from services.simulator.core.api.writing import WriteOptions

_VALIDATIONS = ("Ignore", "Warn", "Strict")
_MANAGER_BYTES = 128
_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_INTEGERS = 1 << 63
_OPTIONS = MappingProxyType({"PUT": "UpdateOptions", "PATCH": "PatchOptions"})
"""The kind of a write's options, by its method; others create."""


def list_options(request: Request, *, single: str = "") -> ListOptions:
    """Return the options of a list or watch.

    `single` narrows it to one object, as old watch paths do.
    """
    integer(request, "timeoutSeconds")
    fields = request.parameter("fieldSelector")
    if single:
        fields = f"metadata.name={single}" + (f",{fields}" if fields else "")
    sent = request.parameter("sendInitialEvents")
    return ListOptions(
        labels=request.parameter("labelSelector"),
        fields=fields,
        limit=integer(request, "limit") or 0,
        continue_=request.parameter("continue"),
        resource_version=request.parameter("resourceVersion"),
        resource_version_match=request.parameter("resourceVersionMatch"),
        send_initial_events=request.flag("sendInitialEvents") if sent else None,
        bookmarks=request.flag("allowWatchBookmarks"),
    )


def timeout_seconds(request: Request) -> int | None:
    """Return how long a watch may stay open, None if the client leaves it open."""
    return integer(request, "timeoutSeconds")


def integer(request: Request, name: str) -> int | None:
    """Return an integer parameter, None if it is absent."""
    values = request.query.get(name)
    if values is None:
        return None
    text = values[0]
    why = "invalid syntax"
    if _INTEGER.match(text):
        number = int(text)
        if -_INTEGERS <= number < _INTEGERS:
            return number
        why = "value out of range"
    raise bad_request(f'strconv.ParseInt: parsing "{text}": {why}')


def write_options(request: Request, duplicates: tuple[str, ...] = ()) -> WriteOptions:
    """Return the options of a create, update or patch."""
    if len(request.parameter("fieldManager").encode()) > _MANAGER_BYTES:
        message = f"Too long: may not be more than {_MANAGER_BYTES} bytes"
        kind = _OPTIONS.get(request.method, "CreateOptions")
        raise _invalid(kind, FieldError("FieldValueTooLong", message, "fieldManager"))
    validation = request.parameter("fieldValidation") or "Warn"
    if validation not in _VALIDATIONS:
        raise _invalid(
            "CreateOptions",
            _unsupported("fieldValidation", validation, ("", "Ignore", "Strict", "Warn")),
        )
    return WriteOptions(
        dry_run=_dry_run(request.query.get("dryRun", ()), "CreateOptions"),
        field_validation=validation,
        duplicates=duplicates,
        manager=manager(request),
        named_manager=bool(request.parameter("fieldManager")),
        force=request.flag("force"),
        user=request.user,
    )


def manager(request: Request) -> str:
    """Return the field manager: as named, else the first part of the user agent."""
    named = request.parameter("fieldManager")
    return named or request.headers.get("user-agent", "").partition("/")[0] or "unknown"


def delete_options(request: Request) -> DeleteOptions:
    """Return the options of a deletion: those in the body, else those in the query."""
    body = _sent_options(request) if request.body else {}
    query_grace = integer(request, "gracePeriodSeconds")
    preconditions = body.get("preconditions") or {}
    propagation = body.get("propagationPolicy") or request.parameter("propagationPolicy")
    orphan = body.get("orphanDependents", request.parameter("orphanDependents") or None)
    if propagation and propagation not in ("Orphan", "Background", "Foreground"):
        choices = ("Foreground", "Background", "Orphan", "nil")
        raise _invalid("DeleteOptions", _unsupported("propagationPolicy", propagation, choices))
    if orphan is not None and propagation:
        both = "orphanDependents and deletionPropagation cannot be both set"
        raise _invalid("DeleteOptions", wrong("propagationPolicy", propagation, both))
    if orphan is not None:
        propagation = "Orphan" if orphan in (True, "true", "1") else "Background"
    return DeleteOptions(
        grace_seconds=body["gracePeriodSeconds"]
        if body.get("gracePeriodSeconds") is not None
        else query_grace,
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        propagation=propagation,
        dry_run=_dry_run(
            tuple(body.get("dryRun") or ()) or request.query.get("dryRun", ()), "DeleteOptions"
        ),
    )


def _sent_options(request: Request) -> dict[str, Any]:
    """Return the options in the body of a deletion; raises 400 or 415."""
    kind = "DeleteOptions"
    try:
        sent = read_object(request.headers.get("content-type", ""), request.body).value
        if (sent.get("kind") or kind) != kind:
            version = sent.get("apiVersion") or "meta.k8s.io/v1"
            raise bad_request(unregistered(sent["kind"], version))
        decoded: dict[str, Any] = codec.decode(f"meta/v1.{kind}", sent, codec.Decoding())
    except Unparsed as error:
        raise bad_request(str(error)) from error
    except Mismatch as mismatch:
        raise bad_request(mismatch.message()) from mismatch
    return decoded


def _dry_run(values: tuple[str, ...], kind: str) -> bool:
    for value in values:
        if value != "All":
            message = f'Unsupported value: {shown(list(values))}: supported values: "All"'
            raise _invalid(kind, FieldError("FieldValueNotSupported", message, "dryRun"))
    return bool(values)


def _unsupported(field: str, value: str, choices: tuple[str, ...]) -> FieldError:
    listing = ", ".join(f'"{choice}"' for choice in choices)
    return FieldError(
        "FieldValueNotSupported",
        f'Unsupported value: "{value}": supported values: {listing}',
        field,
    )


def _invalid(kind: str, error: FieldError) -> Exception:
    return invalid(kind, "meta.k8s.io", "", [error])
