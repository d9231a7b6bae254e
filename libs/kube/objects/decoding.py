"""Bytes and parsed documents → structs.

Apart because errors are handled here and nowhere else: one object that cannot be read must not
lose the list it came in. The fast way decodes a whole list at once; only where that fails it is
read again item by item, and what is broken is named.
"""

import re
from collections.abc import Hashable, Mapping
from datetime import date
from functools import cache
from math import isfinite
from typing import Any, Generic, TypeVar

import msgspec

from libs.domain.errors import InvalidRequest
from libs.kube.objects.kinds import KINDS
from libs.kube.objects.metadata import KubeStruct

T = TypeVar("T", bound=KubeStruct)

_AT = re.compile(
    r"(?P<message>.*?) - at (?P<key>`key` in )?`(?:key in )?\$\.?(?P<field>.*)`", re.DOTALL
)

_TYPES = re.compile(r"`([a-z| ]+)`")
_API_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
}
_GOT = re.compile(r"got `(?P<got>\w+)`")
_PART = re.compile(r"[^.\[\]]+")
_SOME_KEY = "[...]"
_JSON_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}


class BrokenObject(msgspec.Struct, frozen=True):
    """An object that could not be read, and why."""

    kind: str
    namespace: str
    name: str
    error: InvalidRequest


class ListMeta(KubeStruct, frozen=True):
    """Metadata of a list; a continue token says that there is more."""

    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")


class ObjectList(msgspec.Struct, Generic[T], frozen=True):
    """The objects of a list and those that could not be read."""

    metadata: ListMeta
    items: tuple[T, ...]
    broken: tuple[BrokenObject, ...] = ()


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """ADDED, MODIFIED, DELETED or BOOKMARK; exactly one of object and broken is set.

    The object of a bookmark has a resource version and nothing else.
    """

    type: str
    object: T | None = None
    broken: BrokenObject | None = None


class _List(KubeStruct, Generic[T], frozen=True):
    metadata: ListMeta = ListMeta()
    items: tuple[T, ...] | None = None


class _RawList(KubeStruct, frozen=True):
    metadata: ListMeta = ListMeta()
    items: tuple[msgspec.Raw, ...] | None = None


class _RawEvent(KubeStruct, frozen=True):
    type: str
    object: msgspec.Raw


def decode_object(data: bytes, struct: type[T]) -> T:
    """Decode one object.

    Raises:
        InvalidRequest: not JSON, or a field has the wrong type; with its path.
    """
    try:
        found: T = _decoder(struct).decode(data)
    except msgspec.ValidationError:
        return from_document(_parsed(data), struct)
    except msgspec.DecodeError as error:
        raise InvalidRequest(f"not JSON: {error}") from error
    return found


def decode_list(data: bytes, struct: type[T]) -> ObjectList[T]:
    """Decode a list; items that cannot be read are named in `broken`.

    Raises:
        InvalidRequest: not JSON, or not a list.
    """
    try:
        found = _decoder(_List[struct]).decode(data)  # type: ignore[valid-type]  # a run-time type
        return ObjectList(metadata=found.metadata, items=found.items or ())
    except msgspec.ValidationError:
        return _decode_items(data, struct)
    except msgspec.DecodeError as error:
        raise InvalidRequest(f"not JSON: {error}") from error


def decode_event(data: bytes, struct: type[T]) -> WatchEvent[T]:
    """Decode one event of a watch.

    Raises:
        InvalidRequest: not JSON, or not an event.
    """
    event = _raw(data, _RawEvent)
    try:
        return WatchEvent(type=event.type, object=decode_object(event.object, struct))
    except InvalidRequest as error:
        return WatchEvent(type=event.type, broken=_broken(event.object, struct, error))


def from_document(document: Mapping[str, Any], struct: type[T]) -> T:
    """Return the struct of a document parsed from JSON or YAML; nulls count as absent.

    Raises:
        InvalidRequest: a field has the wrong type, with its path; or the document contains itself,
            as YAML can.
    """
    return from_plain(plain(document), struct)


def plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document as JSON would hold it: no nulls; YAML's timestamps and `.nan` as text.

    Raises:
        InvalidRequest: it contains itself, as YAML can, or is nested too deeply.
    """
    try:
        found: dict[str, Any] = _plain(document)
    except RecursionError:
        raise InvalidRequest("is nested too deeply, or contains itself") from None
    return found


def from_plain(document: Mapping[str, Any], struct: type[T]) -> T:
    """Return the struct of a document that `plain` has made.

    Raises:
        InvalidRequest: a field has the wrong type, with its path.
    """
    try:
        return msgspec.convert(document, struct)
    except msgspec.ValidationError as error:
        raise _precise(invalid_request(error), document) from error
    except RecursionError:
        raise InvalidRequest("is nested too deeply") from None


def invalid_request(error: msgspec.ValidationError) -> InvalidRequest:
    """Return the error with the path of the field, `$` left off, and the message apart."""
    text = str(error)
    match = _AT.fullmatch(text)
    if match is None:
        return InvalidRequest(_lower(text))
    about = "a key: " if match["key"] else ""
    return InvalidRequest(about + _lower(match["message"]), field=match["field"])


def _precise(error: InvalidRequest, document: Any) -> InvalidRequest:
    """Return the error with the key of a mapping where msgspec says `[...]`, and what to do."""
    field, detail = error.field, error.detail
    got = _GOT.search(detail)
    if got is None:
        return error
    if field.endswith(_SOME_KEY):
        place = document
        for part in _PART.findall(field.removesuffix(_SOME_KEY)):
            place = place[int(part) if part.isdigit() and isinstance(place, list) else part]
        kinds = ((key, _JSON_TYPES.get(type(value))) for key, value in place.items())
        key = next((key for key, kind in kinds if kind == got["got"]), "...")
        field = f"{field.removesuffix(_SOME_KEY)}.{key}"
    is_text = detail.removeprefix("a key: ").startswith("expected `str`")
    if is_text and got["got"] in ("bool", "float", "int"):
        detail += "; put it in quotes"
    return InvalidRequest(_TYPES.sub(_as_written, detail), field=field)


def _as_written(types: re.Match[str]) -> str:
    """Return types as the Kubernetes API reference calls them; null is no value of any."""
    named = (_API_TYPES.get(one, one) for one in types[1].split(" | ") if one != "null")
    return f"`{' | '.join(dict.fromkeys(named)) or 'null'}`"


def _decode_items(data: bytes, struct: type[T]) -> ObjectList[T]:
    found = _raw(data, _RawList)
    items: list[T] = []
    broken: list[BrokenObject] = []
    for raw in found.items or ():
        try:
            items.append(decode_object(raw, struct))
        except InvalidRequest as error:
            broken.append(_broken(raw, struct, error))
    return ObjectList(metadata=found.metadata, items=tuple(items), broken=tuple(broken))


def _broken(raw: bytes, struct: type[KubeStruct], error: InvalidRequest) -> BrokenObject:
    document = _parsed(raw)
    metadata = document.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    return BrokenObject(
        kind=str(document.get("kind") or KINDS.get(struct, struct.__name__)),
        namespace=str(named.get("namespace") or ""),
        name=str(named.get("name") or ""),
        error=error,
    )


def _parsed(data: bytes) -> Mapping[str, Any]:
    document: Mapping[str, Any] = _raw(data, dict[str, Any])
    return document


def _raw(data: bytes, kind: Hashable) -> Any:
    try:
        return _decoder(kind).decode(data)
    except msgspec.ValidationError as error:
        raise invalid_request(error) from error
    except msgspec.DecodeError as error:
        raise InvalidRequest(f"not JSON: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value.isoformat() if isinstance(value, date) else value


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


@cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
