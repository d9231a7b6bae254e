"""Which representation a client accepts.

Source: Kubernetes documentation, "API Concepts": alternate representations, receiving resources as
Tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from services.simulator.core.api.errors import ApiError
from services.simulator.core.api.resources import Resource

_JSON_LIKE = ("application/json", "*/*", "")
_STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
MEDIA_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_ONE = "PartialObjectMetadata"
_CONVERSIONS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The representation to answer in."""

    yaml: bool = False
    as_kind: str = ""
    """`Table`, `PartialObjectMetadata`, its list, or empty for the object itself."""

    as_version: str = "v1"


PLAIN = Accepted()


def accepted(header: str, *, streams: bool = False) -> Accepted:
    """Return the first representation of an Accept header that can be made; raises a 406.

    Args:
        header: as it was sent, empty for none.
        streams: whether the answer could be a watch, which a refusal tells.
    """
    if header in ("", "application/json", "*/*"):
        return PLAIN
    refused_conversion = False
    for media_type, parameters in _media_ranges(header):
        if media_type not in _JSON_LIKE and media_type != "application/yaml":
            continue
        as_kind, is_yaml = parameters.get("as", ""), media_type == "application/yaml"
        if parameters.get("stream", "watch") != "watch":
            refused_conversion = True
            continue
        if not as_kind or parameters.get("g") == "apidiscovery.k8s.io":
            return Accepted(yaml=is_yaml)
        version = parameters.get("v", "")
        if (
            as_kind in _CONVERSIONS
            and version in ("v1", "v1beta1")
            and parameters.get("g") == "meta.k8s.io"
        ):
            return Accepted(yaml=is_yaml, as_kind=as_kind, as_version=version)
        refused_conversion = True
    if refused_conversion:
        raise ApiError(
            406, "NotAcceptable", f"only the following media types are accepted: {MEDIA_TYPES}"
        )
    offered = f"{MEDIA_TYPES}, {_STREAMS}" if streams else MEDIA_TYPES
    message = f"406: Not Acceptable\n\nAvailable representations: {offered}"
    raise ApiError(406, "NotAcceptable", message, {})


def check_conversion(accept: Accepted, resource: Resource, *, is_list: bool) -> None:
    """Raise the 406 of a conversion that is not for lists, or only for them."""
    if accept.as_kind not in (_ONE, _ONE + "List") or is_list is (accept.as_kind != _ONE):
        return
    what = "a list" if is_list else "not a list"
    package = "unstructured" if resource.custom else resource.type.partition("/")[0]
    kind = "Unstructured" if resource.custom else resource.kind
    type_ = f"*{package}.{kind}{'List' if is_list else ''}"
    why = f"you requested {accept.as_kind}, but the requested object is {what} ({type_})"
    raise ApiError(406, "NotAcceptable", why)


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
