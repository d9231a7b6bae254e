"""Mirrors the node class of `provider/v1/provider.proto`, the one place for free-form content."""

import math
from collections.abc import Mapping
from typing import Any

from google.protobuf.struct_pb2 import ListValue, Struct, Value
from joiner.provider.v1 import provider_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.provider import NodeClass
from libs.wire.capacity import decode_node_class_ref, encode_node_class_ref
from libs.wire.field import at, require, within

_EXACT = 2**53
"""Integers up to here survive a Struct, whose numbers are doubles."""


def decode_node_class(message: pb.NodeClass) -> NodeClass:
    """Return the class."""
    require(message, "ref", "uid")
    return NodeClass(
        ref=at("ref", message.ref, decode_node_class_ref),
        uid=message.uid,
        generation=within("generation", message.generation, 0),
        spec=at("spec", message.spec, decode_struct),
        status=at("status", message.status, decode_struct),
    )


def encode_node_class(node_class: NodeClass) -> pb.NodeClass:
    """Return the message."""
    return pb.NodeClass(
        ref=encode_node_class_ref(node_class.ref),
        uid=node_class.uid,
        generation=node_class.generation,
        spec=encode_struct(node_class.spec),
        status=encode_struct(node_class.status),
    )


def decode_struct(message: Struct) -> dict[str, Any]:
    """Return plain JSON; whole numbers are integers, as they were in the object."""
    return {name: _decode_at(name, value) for name, value in sorted(message.fields.items())}


def encode_struct(content: Mapping[str, Any]) -> Struct:
    """Return the message."""
    message = Struct()
    message.update(content)
    return message


def _decode_at(name: str, value: Value) -> Any:
    return at(name, value, _decode_value)


def _decode_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "null_value":
            return None
        case "number_value":
            return _decode_number(value.number_value)
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return decode_struct(value.struct_value)
        case "list_value":
            return _decode_list(value.list_value)
        case _:
            raise InvalidRequest("has no value")


def _decode_number(number: float) -> int | float:
    if not math.isfinite(number):
        raise InvalidRequest(f"{number} is not a JSON number")
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number


def _decode_list(message: ListValue) -> list[Any]:
    return [_decode_at(f"[{index}]", value) for index, value in enumerate(message.values)]
