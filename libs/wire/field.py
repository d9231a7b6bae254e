"""How strict decoding looks at fields, and how an error learns its path: each idiom once.

Shapes by the thousand have few different constraints: `by_content` and `encoded_once` read and
write each once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeVar

from google.protobuf.message import Message

from libs.domain.errors import InvalidRequest

K = TypeVar("K")
M = TypeVar("M")
P = TypeVar("P", bound=Message)
T = TypeVar("T")

_MOST = 2**63 - 1
_MOST_KNOWN = 2048
_LONGEST_KNOWN = 1024
"""Bytes of a message that is remembered, so that nobody's huge ones are kept."""


def require(message: Message, *names: str) -> None:
    """Check that fields are set: a message present, a text or a list not empty.

    Raises:
        InvalidRequest: with the name of the first that is not.
    """
    for name in names:
        value = getattr(message, name)
        if not (message.HasField(name) if isinstance(value, Message) else value):
            raise InvalidRequest("is required", field=name)


def at(field: str, message: M, decode: Callable[[M], T]) -> T:
    """Decode one field; errors get its name put before their path."""
    try:
        return decode(message)
    except InvalidRequest as error:
        raise error.under(field) from None


def optional(message: Message, name: str, decode: Callable[[Any], T]) -> T | None:
    """Decode a field, None where it is absent."""
    return at(name, getattr(message, name), decode) if message.HasField(name) else None


def each(field: str, messages: Sequence[M], decode: Callable[[M], T]) -> tuple[T, ...]:
    """Decode a repeated field; errors get its name and the index put before their path."""
    decoded: list[T] = []
    if not messages:  # most are
        return ()
    try:
        decoded.extend(map(decode, messages))
    except InvalidRequest as error:
        raise error.under(f"{field}[{len(decoded)}]") from None
    return tuple(decoded)


def by_content(decode: Callable[[P], T]) -> Callable[[P], T]:
    """Return the same decoder, which gives one value for equal messages of late."""
    known: dict[bytes, T] = {}

    def decoded(message: P) -> T:
        content = message.SerializeToString()
        found = known.get(content)
        if found is None:
            found = decode(message)
            if len(content) <= _LONGEST_KNOWN:
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                known[content] = found
        return found

    return decoded


def encoded_once(encode: Callable[[T], P]) -> Callable[[T], P]:
    """Return the same encoder, which gives one message, to be read only, for equal values."""
    return lru_cache(maxsize=_MOST_KNOWN)(encode)


def some(encode: Callable[[T], P], items: Sequence[T]) -> list[P] | None:
    """Encode a repeated field; None for none, since to set a field to nothing takes time, too."""
    return [encode(item) for item in items] if items else None


def unique(field: str, items: tuple[T, ...], key: Callable[[T], Any]) -> tuple[T, ...]:
    """Return the items sorted by `key`.

    Raises:
        InvalidRequest: two have the same.
    """
    ordered = tuple(sorted(items, key=key))
    for before, after in pairwise(ordered):
        if key(before) == key(after):
            raise InvalidRequest(f"{key(after)!r} is there twice", field=field)
    return ordered


def within(field: str, value: int, least: int, most: int | None = None) -> int:
    """Return the value.

    Raises:
        InvalidRequest: it is below `least` or above `most`.
    """
    if value < least:
        raise InvalidRequest(f"{value} is below {least}", field=field)
    if most is not None and value > most:
        raise InvalidRequest(f"{value} is above {most}", field=field)
    return value


def saturated(total: int) -> int:
    """Return a sum as an int64 field can hold it: what is beyond is the largest number there is."""
    return max(-_MOST, min(total, _MOST))


def choice(field: str, values: Mapping[K, T], number: K) -> T:
    """Return the value of an enum's number.

    Raises:
        InvalidRequest: it is unspecified or unknown, and the proto names no fallback.
    """
    found = values.get(number)
    if found is None:
        raise InvalidRequest(f"{number} is unspecified or unknown", field=field)
    return found


def inverted(values: Mapping[K, T]) -> dict[T, K]:
    """Return the mapping from values to numbers, for encoding."""
    return {value: number for number, value in values.items()}
