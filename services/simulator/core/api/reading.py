"""Lists and watches: from query options to states, pages and cursors.

Source: Kubernetes documentation, "API Concepts": resourceVersion semantics, chunking, streaming
lists.
"""

import base64
import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from libs.apiserver.field_errors import FieldError
from libs.apiserver.types import codec
from libs.apiserver.types.table import structs
from services.simulator.core.api import selectors
from services.simulator.core.api.errors import ApiError, bad_request, expired, internal, invalid
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.storage import INDEXED, Storage, Version, View
from services.simulator.core.api.watching import Watch, WatchStart

GONE = "The resourceVersion for the provided list is too old."
_NOT_WITH_TOKEN = "resourceVersionMatch is forbidden when continue is provided"
_EXPIRED_TOKEN = "The provided continue parameter is too old to display a consistent list result."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """What a list or watch asks for, as sent."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: str = ""
    send_initial_events: bool | None = None
    bookmarks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Part of a list, consistent at one revision."""

    items: Sequence[Version]
    revision: int
    continue_: str = ""
    remaining: int | None = None


class TooLargeResourceVersion(ApiError):
    """A list at a revision that is still to come: the client shall try again."""

    def __init__(self, wanted: int, current: int) -> None:
        details = {
            "causes": [
                {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            ]
        }
        message = f"Too large resource version: {wanted}, current: {current}"
        super().__init__(
            504,
            "Timeout",
            f"Timeout: {message}",
            {**details, "retryAfterSeconds": 1},
            retry_after=1,
        )


def selection(resource: Resource, options: ListOptions) -> selectors.Predicate | None:
    """Return the predicate of the selectors; raises a 400."""
    if not options.labels and not options.fields:
        return None
    labels = selectors.parse_labels(options.labels)
    terms = selectors.parse_fields(options.fields)
    supported = selectors.supported_fields(resource.qualified, resource.selectable)
    for term in terms:
        if term.field not in supported:
            raise selectors.field_refusal(resource.qualified, term.field, custom=resource.custom)
    return selectors.predicate(labels, terms)


def read_page(storage: Storage, resource: Resource, prefix: str, options: ListOptions) -> Page:
    """Return the page that a list asks for."""
    selects = selection(resource, options)
    start = ""
    limit = options.limit
    if options.continue_:
        _check_list(options)
        revision, start = _decode_token(options.continue_)
        if options.resource_version not in ("", "0"):
            raise bad_request("specifying resource version is not allowed when using continue")
    else:
        revision = _list_revision(storage, options)
        if options.resource_version == "0":
            limit = 0  # the watch cache answers, which knows no pages
    value = _indexed_value(resource, options) if revision == storage.revision else ""
    if value:
        view: View | None = storage.view_by_field(resource.bucket, prefix, value, start)
    else:
        view = storage.view(resource.bucket, prefix, revision, start)
    if view is None:
        raise expired(_EXPIRED_TOKEN if options.continue_ else GONE)
    return _cut(view, selects, limit, revision, prefix)


def _indexed_value(resource: Resource, options: ListOptions) -> str:
    """Return what an indexed field must be, empty if no such field is asked for."""
    path = INDEXED.get(resource.bucket)
    if path is None or not options.fields:
        return ""
    for term in selectors.parse_fields(options.fields):
        if term.equal and term.field == ".".join(path):
            return term.value
    return ""


def _cut(
    view: View, selects: selectors.Predicate | None, limit: int, revision: int, prefix: str
) -> Page:
    """Return the first page of what is selected."""
    if selects is None:
        keys = view.keys if limit <= 0 else view.keys[:limit]
        states = [view[key] for key in keys]
        remaining: int | None = len(view.keys) - len(keys)
    else:
        chosen = (version for version in view if selects(version.object))
        states = list(chosen if limit <= 0 else islice(chosen, limit + 1))
        remaining = None
        if limit <= 0 or len(states) <= limit:
            return Page(items=states, revision=revision)
        states.pop()
    if remaining == 0:
        return Page(items=states, revision=revision)
    token = _encode_token(revision, states[-1].key.removeprefix(prefix) + "\0")
    return Page(items=states, revision=revision, continue_=token, remaining=remaining)


def _list_revision(storage: Storage, options: ListOptions) -> int:
    """Return the revision to list at; the newest unless an exact one is asked for."""
    _check_list(options)
    match = options.resource_version_match
    if not options.resource_version:
        return storage.revision
    try:
        wanted = parse_revision(options.resource_version)
    except ValueError as malformed:
        raise bad_request(f"invalid resource version: resourceVersion: {malformed}") from malformed
    if wanted > storage.revision:
        raise TooLargeResourceVersion(wanted, storage.revision)
    if match == "Exact" or (not match and options.limit > 0 and wanted > 0):
        return wanted
    return storage.revision


def _check_list(options: ListOptions) -> None:
    """Raise the 422 of list options that contradict each other."""
    match = options.resource_version_match
    errors: list[FieldError] = []
    at = "resourceVersionMatch"
    if match and not options.resource_version:
        errors.append(_refused(f"{at} is forbidden unless resourceVersion is provided"))
    if match and options.continue_:
        errors.append(_refused(_NOT_WITH_TOKEN))
    if match and match not in ("Exact", "NotOlderThan"):
        choices = '"Exact", "NotOlderThan", ""'
        errors.append(
            FieldError(
                "FieldValueNotSupported",
                f'Unsupported value: "{match}": supported values: {choices}',
                at,
            )
        )
    if match == "Exact" and options.resource_version == "0":
        errors.append(_refused(f'{at} "exact" is forbidden for resourceVersion "0"'))
    if options.send_initial_events is not None:
        errors.append(
            FieldError(
                "FieldValueForbidden",
                "Forbidden: sendInitialEvents is forbidden for list",
                "sendInitialEvents",
            )
        )
    if errors:
        raise _invalid_options(errors)


def parse_revision(text: str) -> int:
    """Return a resourceVersion as a number; the error is worded as Go words it."""
    if not text.isascii() or not text.isdecimal():
        raise ValueError(
            f'Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)


def _refused(why: str) -> FieldError:
    return FieldError("FieldValueForbidden", f"Forbidden: {why}", "resourceVersionMatch")


def _invalid_options(errors: list[FieldError]) -> ApiError:
    return invalid("ListOptions", "meta.k8s.io", "", errors)


def check_freshness(storage: Storage, text: str) -> None:
    """Raise what is wrong with the resourceVersion that one object shall at least have."""
    if not text:
        return
    try:
        wanted = parse_revision(text)
    except ValueError as malformed:
        raise internal(f"resourceVersion: {malformed}") from malformed
    if wanted > storage.revision:
        raise TooLargeResourceVersion(wanted, storage.revision)


def open_watch(storage: Storage, resource: Resource, prefix: str, options: ListOptions) -> Watch:
    """Return a watch from where the options say."""
    _check_watch(options)
    selects = selection(resource, options)
    since: int | None = None
    initial: list[Version] = []
    bookmark = False
    if options.resource_version not in ("", "0"):
        try:
            since = parse_revision(options.resource_version)
        except ValueError as malformed:
            raise internal(f"resourceVersion: {malformed}") from malformed
    if options.send_initial_events or (since is None and options.send_initial_events is not False):
        initial = storage.scan(resource.bucket, prefix)
        if selects is not None:
            initial = [version for version in initial if selects(version.object)]
        bookmark = options.bookmarks
        since = None
    elif since is None:
        since = storage.revision
    start = WatchStart(
        since=since, prefix=prefix, initial=tuple(initial), bookmark=bookmark, blank=blank(resource)
    )
    return Watch(storage.bucket(resource.bucket), start, selects, storage.revision)


def _check_watch(options: ListOptions) -> None:
    errors: list[FieldError] = []
    match = options.resource_version_match
    if options.send_initial_events is None:
        if match:
            errors.append(
                _refused(
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                    "provided"
                )
            )
    elif match != "NotOlderThan":
        errors.append(
            _refused("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
        )
    if match and match != "NotOlderThan":
        message = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        errors.append(FieldError("FieldValueNotSupported", message, "resourceVersionMatch"))
    # Without a resourceVersion the server itself asks for initial events, hence for a match.
    if options.continue_ and (match or options.resource_version in ("", "0")):
        errors.append(_refused(_NOT_WITH_TOKEN))
    if errors:
        raise _invalid_options(errors)


def blank(resource: Resource) -> dict[str, Any]:
    """Return the object that bookmarks carry: kind, apiVersion and the zero value of the type."""
    head = {"kind": resource.kind, "apiVersion": resource.group_version}
    if resource.type in structs():
        zero = codec.zero(resource.type)
        return {**head, **{name: value for name, value in zero.items() if name not in head}}
    return head


def _encode_token(revision: int, start: str) -> str:
    text = msgspec.json.encode({"v": _TOKEN_VERSION, "rv": revision, "start": start})
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _decode_token(token: str) -> tuple[int, str]:
    """Return revision and first key behind a token; raises the 400 of one that we never gave."""
    illegal = re.search(r"[^A-Za-z0-9_-]", token)
    at = illegal.start() if illegal else len(token) - 1
    if illegal or len(token) % 4 == 1:
        raise _bad_token(f": illegal base64 data at input byte {at}")
    text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    try:
        fields = msgspec.json.decode(text, type=_Token)
    except msgspec.ValidationError as error:
        raise _bad_token(f": {error}") from None
    except msgspec.DecodeError:
        raise _bad_token(f": {_bad_json(text)}") from None
    if fields.v != _TOKEN_VERSION:
        raise _bad_token(f": server does not recognize this encoded version {fields.v}")
    if not fields.rv:
        raise _bad_token(f": incorrect encoded start resourceVersion (version {_TOKEN_VERSION})")
    if not fields.start:
        raise _bad_token(f": encoded start key empty (version {_TOKEN_VERSION})")
    start = fields.start.removeprefix("/")
    if posixpath.normpath(f"/{start}") != f"/{start}":
        raise _bad_token(f": {fields.start}")
    return fields.rv, start


class _Token(msgspec.Struct):
    """What a token says; nothing that is absent is known of it."""

    v: str = ""
    rv: int = 0
    start: str = ""


_TOKEN_VERSION = "meta.k8s.io/v1"


def _bad_json(text: bytes) -> str:
    try:
        json.loads(text.decode("latin-1"))
    except json.JSONDecodeError as error:
        if error.pos < len(text):
            return f"invalid character {chr(text[error.pos])!a} looking for beginning of value"
    return "unexpected end of JSON input"


def _bad_token(why: str) -> ApiError:
    return bad_request(f"invalid continue token: continue key is not valid{why}")
