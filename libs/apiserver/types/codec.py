"""Decode JSON values into the canonical form of a built-in type.

It does what Kubernetes' typed decoder and encoder do together. Canonical: unknown fields and nulls
dropped, empty optional values left out, required ones present with their zero value, quantities and
times in their one spelling. The result shares no container with the input.

Decoders are closures compiled once per type. They raise `Mismatch` on a wrong type (the path is put
together while it unwinds) and only count unknown fields; `walking.unknown_fields` finds their paths
in a second, slower walk.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from libs.apiserver.types import table
from libs.apiserver.types.mismatch import Mismatch, go_name, json_kind
from libs.domain import quantity_text

Decoder = Callable[[Any, "Decoding"], Any]

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d([.,]\d+)?([Zz]|[+-]\d\d:\d\d)\Z")


@dataclass(slots=True)
class Decoding:
    """What happened on the way: how many unknown fields were dropped."""

    unknown: int = 0


@dataclass(slots=True, frozen=True)
class _Slot:
    decode: Decoder
    omit: bool
    """Whether an empty value is left out."""

    path: str
    """How a refusal names the field; embedded structs stand in it."""

    named: Mapping[str, str]
    """What Go calls the types that the field and its items have, by our names for them."""


def decode(type_: str, value: Any, decoding: Decoding) -> Any:
    """Return the canonical form of `value`, a new value; raises `Mismatch`."""
    return decoder(type_)(value, decoding)


@lru_cache(maxsize=1024)
def zero(type_: str) -> Any:
    """Return the zero value of a type as it is encoded.

    Containers in it are shared, copy before changing.
    """
    if (
        type_.startswith(("*", "[]", "map:"))
        or type_ in ("any", "time", "microtime")
        or "|" in type_
    ):
        return None
    struct = table.struct_of(type_)
    if struct is None:
        return {"bool": False, "string": "", "bytes": "", "quantity": "0", "duration": "0s"}.get(
            type_, 0
        )
    return dict(_zeros(struct))


@lru_cache(maxsize=1024)
def decoder(type_: str) -> Decoder:
    """Return the decoder of a type, compiled once."""
    if type_.startswith("*"):
        return decoder(type_[1:])
    if type_.startswith("[]"):
        return _list_decoder(type_)
    if type_.startswith("map:"):
        return _map_decoder(type_)
    if table.struct_of(type_) is not None:
        return _struct_decoder(type_)
    return _SCALARS.get(type_, _decode_any)


def _zeros(struct: table.Struct) -> list[tuple[str, Any]]:
    return [(name, zero(entry.type)) for name, entry in struct.items() if _always_present(entry)]


def _always_present(entry: table.Field) -> bool:
    if entry.omitzero:
        return False
    is_struct = table.struct_of(entry.type) is not None and not entry.type.startswith("*")
    is_time = entry.type in ("time", "microtime")
    return is_struct or is_time or not entry.omitempty


def _struct_decoder(type_: str) -> Decoder:
    slots: dict[str, _Slot] = {}
    required: list[tuple[str, Any]] = []
    label = type_.rpartition(".")[2]
    wanted = go_name(type_)

    def run(value: Any, decoding: Decoding) -> Any:
        if not isinstance(value, dict):
            raise Mismatch("", found=json_kind(value), wanted=wanted)
        if not slots:
            # On the first call, not at compile time: types refer to themselves and to each other.
            _fill(type_, slots, required)
        out: dict[str, Any] = {}
        for name, item in value.items():
            slot = slots.get(name)
            if slot is None:
                decoding.unknown += 1
            elif item is not None:
                decoded = _member(slot, name, item, decoding, label)
                if decoded or not slot.omit:
                    out[name] = decoded
        for name, absent in required:
            if name not in out:
                out[name] = copy(absent)
        return out

    return run


def _member(slot: _Slot, name: str, item: Any, decoding: Decoding, label: str) -> Any:
    try:
        return slot.decode(item, decoding)
    except Mismatch as mismatch:
        if not mismatch.path:
            mismatch.is_scalar = mismatch.wanted in _SCALARS
            mismatch.wanted = slot.named.get(mismatch.wanted, mismatch.wanted)
        raise mismatch.under(slot.path, label) from None


def _fill(type_: str, slots: dict[str, _Slot], required: list[tuple[str, Any]]) -> None:
    struct = table.structs()[type_]
    for name, entry in struct.items():
        optional = entry.omitempty and not entry.type.startswith("*")
        is_struct = table.struct_of(entry.type) is not None
        slots[name] = _Slot(
            decode=decoder(entry.type),
            omit=(optional and not is_struct and "any" not in entry.type) or entry.omitzero,
            path=f"{entry.embedded}.{name}" if entry.embedded else name,
            named=_go_types(entry),
        )
    required.extend(_zeros(struct))


def _go_types(entry: table.Field) -> dict[str, str]:
    if not entry.go_type:
        return {}
    names = {go_name(entry.type): entry.go_type}
    if entry.is_list and entry.go_type.startswith("[]"):
        names[go_name(entry.item_type)] = entry.go_type.removeprefix("[]")
    return names


def copy(value: Any) -> Any:
    """Return a deep copy of a JSON value made of plain dicts and lists."""
    if isinstance(value, dict):
        return {key: copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy(item) for item in value]
    return value


def ordered(type_: str, value: Any) -> Any:
    """Return a value with the members of structs in the order in which Go writes them."""
    bare = type_.lstrip("*")
    struct = table.struct_of(bare)
    if bare.startswith("[]") and isinstance(value, list):
        return [ordered(bare[2:], item) for item in value]
    if struct is None or not isinstance(value, dict):
        return value
    order = dict.fromkeys(struct if "apiVersion" in struct else ["apiVersion", "kind", *struct])
    ranks = {name: rank for rank, name in enumerate(order)}
    names = sorted(value, key=lambda name: ranks.get(name, len(ranks)))
    return {
        name: ordered(struct[name].type, value[name]) if name in struct else value[name]
        for name in names
    }


def _list_decoder(type_: str) -> Decoder:
    item_type = type_[2:]
    absent = zero(item_type)

    def run(value: Any, decoding: Decoding) -> Any:
        if not isinstance(value, list):
            raise Mismatch("", found=json_kind(value), wanted=go_name(type_))
        decode_item = decoder(item_type)
        return [copy(absent) if item is None else decode_item(item, decoding) for item in value]

    return run


def _map_decoder(type_: str) -> Decoder:
    item_type = type_[4:]
    absent = zero(item_type)

    def run(value: Any, decoding: Decoding) -> Any:
        if not isinstance(value, dict):
            raise Mismatch("", found=json_kind(value), wanted=go_name(type_))
        decode_item = decoder(item_type)
        found = {
            key: copy(absent) if item is None else decode_item(item, decoding)
            for key, item in value.items()
        }
        # Go writes maps by their keys, and so they are shown wherever they are.
        return dict(sorted(found.items())) if len(found) > 1 else found

    return run


def _decode_any(value: Any, _decoding: Decoding) -> Any:
    return copy(value)


def _decode_string(value: Any, _decoding: Decoding) -> str:
    if not isinstance(value, str):
        raise Mismatch("", found=json_kind(value), wanted="string")
    return value


def _decode_bool(value: Any, _decoding: Decoding) -> bool:
    if not isinstance(value, bool):
        raise Mismatch("", found=json_kind(value), wanted="bool")
    return value


def _int_decoder(name: str, bits: int) -> Decoder:
    limit = 1 << (bits - 1)

    def run(value: Any, _decoding: Decoding) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            found = f"number {value}" if isinstance(value, float) else json_kind(value)
            raise Mismatch("", found=found, wanted=name)
        if not -limit <= value < limit:
            raise Mismatch("", found=f"number {value}", wanted=name)
        return value

    return run


_decode_int32 = _int_decoder("int32", 32)


def _decode_float(value: Any, _decoding: Decoding) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch("", found=json_kind(value), wanted="float64")
    return value


def _decode_bytes(value: Any, _decoding: Decoding) -> str:
    if not isinstance(value, str):
        raise Mismatch("", found=json_kind(value), wanted="[]uint8")
    try:
        return base64.b64encode(base64.b64decode(value, validate=True)).decode()
    except (binascii.Error, ValueError):
        at = _first_bad_base64(value)
        raise Mismatch(f"illegal base64 data at input byte {at}") from None


def _first_bad_base64(text: str) -> int:
    """Return where Go's decoder stops: at a sign that is none, else at the group left open."""
    bad = re.search(r"[^A-Za-z0-9+/]", text.rstrip("="))
    return bad.start() if bad else len(text) - len(text) % 4


def _decode_quantity(value: Any, _decoding: Decoding) -> str:
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise Mismatch(
            "unable to parse quantity's suffix" if isinstance(value, bool) else _NO_QUANTITY
        )
    try:
        return quantity_text.canonical(text.strip())
    except quantity_text.MalformedQuantity:
        raise Mismatch(_NO_QUANTITY) from None


_NO_QUANTITY = f"quantities must match the regular expression '{quantity_text.PATTERN}'"


def _decode_intstr(value: Any, _decoding: Decoding) -> int | str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch("", found=json_kind(value), wanted="int32")
    whole: int = _decode_int32(value, _decoding)
    return whole


def _decode_time(value: Any, _decoding: Decoding) -> str:
    return _plain_time(_text(value))


def _decode_microtime(value: Any, _decoding: Decoding) -> str:
    found = _parse_time(_text(value), "2006-01-02T15:04:05.000000Z07:00")
    return found.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Mismatch("", found=json_kind(value), wanted="string")
    return value


@lru_cache(maxsize=4096)
def _plain_time(value: str) -> str:
    return _parse_time(value, "2006-01-02T15:04:05Z07:00").strftime("%Y-%m-%dT%H:%M:%SZ")


def _parse_time(value: str, layout: str) -> datetime:
    if _TIME.match(value) is None:
        raise Mismatch(f'parsing time "{value}" as "{layout}": cannot parse "{value}" as "2006"')
    try:
        return datetime.fromisoformat(value.upper().replace(",", ".")).astimezone(UTC)
    except ValueError:
        raise Mismatch(f'parsing time "{value}": out of range') from None


_SCHEMA = "apiextensions/v1.JSONSchemaProps"


def _schema_or(other: str) -> Decoder:
    """Return the decoder of a schema or something else in its place."""

    def run(value: Any, decoding: Decoding) -> Any:
        return decoder(_SCHEMA if isinstance(value, dict) else other)(value, decoding)

    return run


_SCALARS: dict[str, Decoder] = {
    "string": _decode_string,
    "bool": _decode_bool,
    "int32": _decode_int32,
    "int64": _int_decoder("int64", 64),
    "float64": _decode_float,
    "bytes": _decode_bytes,
    "quantity": _decode_quantity,
    "intstr": _decode_intstr,
    "time": _decode_time,
    "microtime": _decode_microtime,
    "duration": _decode_string,
    "schema|schemas": _schema_or(f"[]{_SCHEMA}"),
    "schema|bool": _schema_or("bool"),
    "schema|strings": _schema_or("[]string"),
}
