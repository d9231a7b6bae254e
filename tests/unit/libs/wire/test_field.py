"""What is read and written once for equal contents, and what is not kept."""

import pytest
from joiner.model.v1 import requirement_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.wire.field import by_content, encoded_once

Pair = tuple[str, str]


def a_label(key: str, value: str = "v") -> pb.Label:
    return pb.Label(key=key, value=value)


def test_equal_messages_are_decoded_once() -> None:
    read: list[str] = []

    @by_content
    def decode(message: pb.Label) -> Pair:
        read.append(message.key)
        return message.key, message.value

    first, other, again = decode(a_label("a")), decode(a_label("b")), decode(a_label("a"))

    assert again is first
    assert (first, other) == (("a", "v"), ("b", "v"))
    assert read == ["a", "b"]


def test_a_message_that_is_refused_is_refused_each_time() -> None:
    @by_content
    def decode(message: pb.Label) -> Pair:
        raise InvalidRequest("is required", field=message.key)

    for _ in range(2):
        with pytest.raises(InvalidRequest):
            decode(a_label("a"))


def test_a_long_message_is_not_kept() -> None:
    read: list[int] = []

    @by_content
    def decode(message: pb.Label) -> int:
        read.append(len(message.value))
        return len(message.value)

    assert [decode(a_label("a", "v" * 2_000)) for _ in range(2)] == [2_000, 2_000]
    assert read == [2_000, 2_000]


def test_messages_of_long_ago_are_forgotten() -> None:
    read: list[str] = []

    @by_content
    def decode(message: pb.Label) -> str:
        read.append(message.key)
        return message.key

    for number in range(3_000):
        decode(a_label(str(number)))
    decode(a_label("0"))

    assert len(read) == 3_001


def test_equal_values_are_encoded_once() -> None:
    written: list[Pair] = []

    @encoded_once
    def encode(pair: Pair) -> pb.Label:
        written.append(pair)
        return a_label(*pair)

    assert encode(("a", "v")) is encode(("a", "v"))
    assert written == [("a", "v")]
