"""From the body of a request to a value, with the refusals of Kubernetes' decoders.

What a body says it is (`kind`, `apiVersion`) is text; whether it is the right thing is looked at
later, by who knows what is wanted.

Source: Kubernetes documentation, "API Concepts"; wordings as recorded from kube-apiserver 1.36.
"""

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from libs.apiserver.types import json_text, protobuf
from libs.apiserver.types.mismatch import json_kind
from services.simulator.core.api.errors import ApiError, bad_request
from services.simulator.core.api.messages import Request
from services.simulator.core.api.negotiation import MEDIA_TYPES
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.scheme import TYPES, unregistered
from services.simulator.core.api.yaml_text import NoYaml, read_yaml

PROTOBUF = "application/vnd.kubernetes.protobuf"
_HEAD = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\""; '
    r'Kind string "json:\"kind,omitempty\"" }'
)
_QUOTED = 30
"""How many bytes of a body a refusal quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A decoded request body; `duplicates` are the paths of members that stood twice."""

    value: Any
    duplicates: tuple[str, ...] = ()


class Unparsed(ValueError):
    """A text that cannot be read, in the words of Go's parsers."""


def decode_body(content_type: str, body: bytes, kind: str, *, custom: bool = False) -> Body:
    """Return the object in a JSON, YAML or protobuf body; raises 400 or 415.

    Args:
        content_type: as the request says.
        body: what was sent.
        kind: of the objects that are wanted, for refusals.
        custom: whether these are custom resources, of which nothing goes without saying.
    """
    try:
        return read_object(content_type, body, custom=custom)
    except Unparsed as error:
        shown = f"{error} ({_summary(body)})"
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): {shown}"
        ) from error


def object_in(request: Request, resource: Resource) -> Body:
    """Return the object that a request brings for a resource; raises 400 or 415."""
    media_type = request.headers.get("content-type", "")
    return decode_body(media_type, request.body, resource.kind, custom=resource.custom)


def read_object(content_type: str, body: bytes, *, custom: bool = False) -> Body:
    """Return the object in a body; raises `Unparsed` and the 415."""
    media_type = content_type.partition(";")[0].strip().lower() or "application/json"
    if media_type == PROTOBUF:
        return Body(value=_read_protobuf(body))
    if media_type == "application/yaml":
        found = Body(value=_read_yaml(body))
    elif media_type in ("application/json", "*/*"):
        found = _read_json(body)
    else:
        raise ApiError(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            f"{MEDIA_TYPES}",
        )
    value = found.value
    if custom and not (value or {}).get("kind"):
        raise Unparsed(f"Object 'Kind' is missing in '{body.decode(errors='replace')}'")
    return found if value is not None else Body(value={})


def _read_json(body: bytes) -> Body:
    try:
        found = parse_json(body)
    except Unparsed as error:
        raise Unparsed(f"couldn't get version/kind; json parse error: {error}") from error
    _check_head(found.value)
    return found


def _read_yaml(body: bytes) -> Any:
    try:
        value = read_yaml(body)
    except NoYaml as error:
        raise Unparsed(str(error)) from error
    _check_head(value)
    return value


def _check_head(value: Any) -> None:
    """Refuse what does not say readably what it is."""
    problem = ""
    if value is not None and not isinstance(value, dict):
        problem = f"json: cannot unmarshal {json_kind(value)} into Go value of type {_HEAD}"
    for name in ("kind", "apiVersion") if isinstance(value, dict) else ():
        told = value.get(name)
        if told is not None and not isinstance(told, str):
            into = f"Go struct field .{name} of type string"
            problem = problem or f"json: cannot unmarshal {json_kind(told)} into {into}"
    if problem:
        raise Unparsed(f"couldn't get version/kind; json parse error: {problem}")
    version = (value or {}).get("apiVersion") or ""
    if version.count("/") > 1:
        raise Unparsed(f"unexpected GroupVersion string: {version}")
    if version.startswith("/"):
        value["apiVersion"] = version[1:]


def _read_protobuf(body: bytes) -> Any:
    """Return the JSON value of a body in Kubernetes' protobuf envelope."""
    if not body:
        raise Unparsed("empty data")
    if not body.startswith(protobuf.MAGIC):
        raise Unparsed(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    if body == protobuf.MAGIC:
        raise Unparsed("empty body")
    try:
        api_version, kind, raw = protobuf.decode_envelope(body)
        type_ = TYPES.get((api_version, kind))
        if type_ is None:
            raise Unparsed(unregistered(kind, api_version))
        return {**protobuf.decode(type_, raw), "apiVersion": api_version, "kind": kind}
    except (protobuf.Malformed, RecursionError) as error:
        raise Unparsed("unexpected EOF") from error


def _summary(body: bytes) -> str:
    """Return the beginning of a body as refusals quote it: as text only if it may be JSON."""
    if not body:
        return "<empty>"
    quoted = body[:_QUOTED]
    text = quoted.decode(errors="replace") if body.startswith(b"{") else quoted.hex()
    return f"{text} ..." if len(body) > _QUOTED else text


def parse_json(body: bytes) -> Body:
    """Return the value of a JSON text with its duplicate members; raises `Unparsed`."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = json_text.problem_of(body)
        if problem:
            raise Unparsed(problem) from error
        body = _mended(body)
        value = msgspec.json.decode(body)
    if b"\\u0022" not in body and _members_in(body) == _members_in(msgspec.json.encode(value)):
        return Body(value=value)
    return Body(value=value, duplicates=tuple(_duplicates(body)))


def _mended(body: bytes) -> bytes:
    """Return a JSON text with every part of it that is no character replaced, as Go reads it."""
    try:
        value = json.loads(body.decode(errors="replace"))
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise Unparsed("exceeded max depth") from error
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _members_in(text: bytes) -> int:
    """Count the members of a JSON text, and quotes in it that look like the end of a name.

    Two texts of one value have equally many of these unless one repeats a member, or is written
    unusually; those are looked at closely.
    """
    return text.count(b'":') + text.count(b'" :')


class _Members(list[tuple[str, Any]]):
    """The members of one JSON object, repeated ones included."""


def _duplicates(body: bytes) -> list[str]:
    found: list[str] = []
    _walk_members(json.loads(body, object_pairs_hook=_Members), "", found)
    return found


def _walk_members(value: Any, path: str, found: list[str]) -> None:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for name, item in value:
            below = f"{path}.{name}" if path else name
            if name in seen and below not in found:
                found.append(below)
            seen.add(name)
            _walk_members(item, below, found)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _walk_members(item, f"{path}[{index}]", found)
