"""Read Kubernetes' protobuf encoding of built-in types into JSON values.

kubectl's typed commands and Go clients send it. Field numbers come from the field table, so there
are no message classes; only reading is needed, because those clients accept JSON answers.

Source: Kubernetes documentation, "API Concepts", "Kubernetes Protobuf encoding"; the wire format of
protobuf.
"""

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from libs.apiserver.types import table

MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """The bytes are no such message."""


def decode_envelope(data: bytes) -> tuple[str, str, bytes]:
    """Return apiVersion, kind and the message inside Kubernetes' envelope; raises `Malformed`."""
    if not data.startswith(MAGIC):
        raise Malformed("the bytes do not begin with the magic number")
    api_version = kind = ""
    raw = b""
    for number, value in _fields(data[len(MAGIC) :]):
        if number == 1:
            names = {inner: _text(part) for inner, part in _fields(_message(value))}
            api_version, kind = names.get(1, ""), names.get(2, "")
        elif number == 2:
            raw = _message(value)
    return api_version, kind, raw


def decode(type_: str, data: bytes) -> dict[str, Any]:
    """Return the JSON form of a message of a built-in type; raises `Malformed`."""
    by_number = _numbers(type_)
    inlined = table.inlined().get(type_, MappingProxyType({}))
    out: dict[str, Any] = {}
    for number, value in _fields(data):
        if number in inlined:
            out.update(decode(inlined[number], _message(value)))
            continue
        field = by_number.get(number)
        if field is None:
            continue
        if field.is_list and field.type.lstrip("*") != "bytes":
            out.setdefault(field.name, []).append(_value(field.item_type, value))
        elif field.is_map:
            key, item = _entry(field.item_type, value)
            out.setdefault(field.name, {})[key] = item
        else:
            out[field.name] = _value(field.type.lstrip("*"), value)
    return out


@lru_cache(maxsize=1024)
def _numbers(type_: str) -> dict[int, table.Field]:
    struct_fields = table.structs().get(type_, MappingProxyType({}))
    messages = table.inlined().get(type_, MappingProxyType({})).values()
    elsewhere = {name for message in messages for name in table.structs()[message]}
    return {
        field.number: field
        for name, field in struct_fields.items()
        if field.number and name not in elsewhere
    }


def _entry(type_: str, value: Any) -> tuple[str, Any]:
    parts = dict(_fields(_message(value)))
    item = parts.get(2)
    if item is None:
        return _text(parts.get(1, b"")), {"quantity": "0", "string": ""}.get(type_)
    return _text(parts.get(1, b"")), _value(type_, item)


def _value(type_: str, value: Any) -> Any:
    if type_ in ("int32", "int64"):
        return _signed(value)
    if type_ == "bool":
        return bool(_signed(value))
    if type_ in ("string", "duration"):
        return _text(value)
    if type_ == "float64":
        return struct.unpack("<d", value)[0]
    if type_ == "bytes":
        return base64.b64encode(_message(value)).decode()
    if table.struct_of(type_) is not None:
        return decode(type_, _message(value))
    return _SPECIAL.get(type_, _raw)(dict(_fields(_message(value))))


def _quantity(parts: dict[int, Any]) -> str:
    return _text(parts.get(1, b"0")) or "0"


def _int_or_string(parts: dict[int, Any]) -> int | str:
    return _text(parts.get(3, b"")) if parts.get(1) else _signed(parts.get(2, 0))


def _time(parts: dict[int, Any]) -> str | None:
    if not parts:
        return None
    seconds, nanos = _signed(parts.get(1, 0)), _signed(parts.get(2, 0))
    try:
        instant = datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanos // 1000)
    except (ValueError, OverflowError, OSError):
        raise Malformed("time out of range") from None
    return instant.isoformat().replace("+00:00", "Z")


def _raw(parts: dict[int, Any]) -> Any:
    text = parts.get(1, b"")
    try:
        return msgspec.json.decode(text) if text else None
    except msgspec.DecodeError:
        raise Malformed("a raw value is no JSON") from None


_SPECIAL: dict[str, Callable[[dict[int, Any]], Any]] = {
    "quantity": _quantity,
    "intstr": _int_or_string,
    "time": _time,
    "microtime": _time,
}


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield field numbers and values: integers for varints, bytes for everything else."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise Malformed(f"unknown wire type {wire}")
        if position + length > len(data):
            raise Malformed("cut off")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(data) or shift > 63:
            raise Malformed("cut off")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7


def _signed(value: Any) -> int:
    if not isinstance(value, int):
        raise Malformed("a number was expected")
    return value - (1 << 64) if value >= 1 << 63 else value


def _message(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise Malformed("a message was expected")
    return value


def _text(value: Any) -> str:
    try:
        return _message(value).decode()
    except UnicodeDecodeError:
        raise Malformed("text is not UTF-8") from None
