"""Which representation a client accepts, and what a body is written in.

Source: Kubernetes documentation, "API Concepts": alternate representations, receiving resources as
Tables.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from libs.apiserver.types import protobuf
from services.simulator.core.api.access.review_kinds import REVIEWS, TOKEN_REQUEST
from services.simulator.core.api.builtin import BUILTIN
from services.simulator.core.api.errors import ApiError, bad_request

_JSON_LIKE = ("application/json", "*/*", "application/*", "")
_STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
_MEDIA_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
PROTOBUF = "application/vnd.kubernetes.protobuf"
_TYPES = {
    (resource.group_version, resource.kind): resource.type
    for resource in (*BUILTIN, *REVIEWS, TOKEN_REQUEST)
} | {
    ("v1", "Binding"): "core/v1.Binding",
    ("v1", "DeleteOptions"): "meta/v1.DeleteOptions",
    ("policy/v1", "Eviction"): "policy/v1.Eviction",
    ("autoscaling/v1", "Scale"): "autoscaling/v1.Scale",
}
_CONVERSIONS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The representation to answer in."""

    yaml: bool = False
    as_kind: str = ""
    """`Table`, `PartialObjectMetadata`, its list, or empty for the object itself."""

    as_version: str = "v1"


PLAIN = Accepted()


def accepted(header: str) -> Accepted:
    """Return the first representation of an Accept header that can be made; raises a 406."""
    if header in ("", "application/json", "*/*"):
        return PLAIN
    refused_conversion = False
    for media_type, parameters in _media_ranges(header):
        if media_type not in _JSON_LIKE and media_type != "application/yaml":
            continue
        as_kind = parameters.get("as", "")
        if not as_kind or parameters.get("g") == "apidiscovery.k8s.io":
            return Accepted(yaml=media_type == "application/yaml")
        version = parameters.get("v", "")
        if (
            as_kind in _CONVERSIONS
            and version in ("v1", "v1beta1")
            and parameters.get("g") == "meta.k8s.io"
        ):
            return Accepted(as_kind=as_kind, as_version=version)
        refused_conversion = True
    if refused_conversion:
        raise ApiError(
            406, "NotAcceptable", f"only the following media types are accepted: {_MEDIA_TYPES}"
        )
    message = f"406: Not Acceptable\n\nAvailable representations: {_MEDIA_TYPES}, {_STREAMS}"
    raise ApiError(406, "NotAcceptable", message, {})


def _media_ranges(header: str) -> Iterable[tuple[str, dict[str, str]]]:
    ranges = []
    for index, part in enumerate(header.split(",")):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        values = dict(parameter.partition("=")[::2] for parameter in parameters)
        try:
            quality = float(values.pop("q", "1"))
        except ValueError:
            quality = 1.0
        ranges.append((-quality, index, media_type, values))
    return [
        (media_type, values)
        for _quality, _index, media_type, values in sorted(ranges, key=lambda item: item[:2])
    ]


def wants_aggregated_discovery(header: str) -> bool:
    """Tell whether a client prefers the aggregated discovery document."""
    ranges = list(_media_ranges(header))
    return bool(ranges) and any(
        values.get("as") == "APIGroupDiscoveryList" and values.get("v") == "v2"
        for _type, values in ranges
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A decoded request body; `duplicates` are the paths of members that stood twice."""

    value: Any
    duplicates: tuple[str, ...] = ()


def decode_body(content_type: str, body: bytes, kind: str) -> Body:
    """Return the value of a JSON or YAML body; raises 400 or 415."""
    media_type = content_type.partition(";")[0].strip().lower() or "application/json"
    if media_type == "application/yaml":
        return Body(value=decode_yaml(body))
    if media_type == PROTOBUF:
        return Body(value=decode_protobuf(body))
    if media_type not in ("application/json", "*/*"):
        raise ApiError(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            f"{_MEDIA_TYPES}",
        )
    return decode_json(body, kind)


def decode_protobuf(body: bytes) -> Any:
    """Return the JSON value of a body in Kubernetes' protobuf envelope; raises a 400."""
    try:
        api_version, kind, raw = protobuf.decode_envelope(body)
        type_ = _TYPES.get((api_version, kind))
        if type_ is None:
            why = f'no kind "{kind}" is registered for version "{api_version}"'
            raise bad_request(f"unable to decode protobuf: {why}")
        return {**protobuf.decode(type_, raw), "apiVersion": api_version, "kind": kind}
    except (protobuf.Malformed, RecursionError) as error:
        raise bad_request(f"unable to decode protobuf: {error}") from error


class Unparsed(ValueError):
    """A text that is no JSON, in the words of Go's parser."""


def decode_json(body: bytes, kind: str) -> Body:
    """Return the value of a JSON body with its duplicate members; raises a 400."""
    try:
        return parse_json(body)
    except Unparsed as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from error


def parse_json(body: bytes) -> Body:
    """Return the value of a JSON text with its duplicate members; raises `Unparsed`."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unparsed(_reworded(body, error)) from error
    if b"\\u0022" not in body and _members_in(body) == _members_in(msgspec.json.encode(value)):
        return Body(value=value)
    return Body(value=value, duplicates=tuple(_duplicates(body)))


def decode_yaml(body: bytes) -> Any:
    """Return the value of a YAML body; raises a 400. Times are text, as in JSON."""
    try:
        return yaml.load(body, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise bad_request(f"error converting YAML to JSON: yaml: {_problem(error)}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise bad_request(f"error converting YAML to JSON: {error}") from error


def _problem(error: yaml.MarkedYAMLError) -> str:
    problem = (error.problem or "").partition(", but")[0].removeprefix("expected the ")
    line = error.problem_mark.line if error.problem_mark is not None else 0
    where = f"line {line + 1}: " if line else ""
    return f"{where}did not find expected {problem}"


def to_yaml(body: bytes) -> bytes:
    """Return a JSON text as YAML."""
    return yaml.safe_dump(msgspec.json.decode(body), sort_keys=True).encode()


class _Loader(yaml.SafeLoader):
    """The safe loader with Kubernetes' reading of plain words.

    Dates are text, `y` and `n` are booleans.
    """

    def construct_yaml_bool(self, node: yaml.ScalarNode) -> bool:
        """Return a boolean, one-letter forms included."""
        text = str(self.construct_scalar(node)).lower()
        return text in ("y", "yes", "true", "on")


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^[yYnN]$"), list("yYnN"))
_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_yaml_bool)


def _reworded(body: bytes, error: Exception) -> str:
    if not body.strip():
        return "unexpected end of JSON input"
    try:
        json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as worded:
        position = getattr(worded, "pos", 0)
        if position < len(body):
            return f"invalid character '{chr(body[position])}' looking for beginning of value"
        return "unexpected end of JSON input"
    return str(error)


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
