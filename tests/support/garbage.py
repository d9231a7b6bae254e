"""Messages that no honest peer sends: bytes that are no message, and messages without sense.

Seeded: the same number gives the same garbage.
"""

from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor

from libs.runtime.randomness import Random

_DEPTH = 5
_TEXTS = ("", "x", "default", "ä/😀", "-1", "Exists", "kwok://", "a" * 300, "\x00")
_NUMBERS = (0, 1, -1, 7, 2**31 - 1, -(2**31), 10**9)
_LONG = (*_NUMBERS, 2**63 - 1, -(2**63))
_PLAIN: dict[int, tuple[Any, ...]] = {
    FieldDescriptor.TYPE_STRING: _TEXTS,
    FieldDescriptor.TYPE_BYTES: (b"", b"\xff\xfe", b"x" * 100),
    FieldDescriptor.TYPE_BOOL: (True, False),
    FieldDescriptor.TYPE_DOUBLE: (0.0, -1.5, float("nan"), float("inf")),
    FieldDescriptor.TYPE_FLOAT: (0.0, -1.5, float("nan")),
    FieldDescriptor.TYPE_INT32: _NUMBERS,
    FieldDescriptor.TYPE_SINT32: _NUMBERS,
    FieldDescriptor.TYPE_INT64: _LONG,
    FieldDescriptor.TYPE_SINT64: _LONG,
    FieldDescriptor.TYPE_UINT32: (0, 1, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 1, 2**64 - 1),
    FieldDescriptor.TYPE_ENUM: (0, 1, 2, 99, -3),
}


def methods_of(service: str) -> Iterator[MethodDescriptor]:
    """Yield the methods of a service by its full name, as in `joiner.solver.v1.SolverService`."""
    yield from descriptor_pool.Default().FindServiceByName(service).methods


def noise(seed: int, size: int) -> bytes:
    """Return random bytes."""
    random = Random(seed)
    return bytes(random.randrange(256) for _ in range(size))


def nonsense(method: MethodDescriptor, seed: int) -> bytes:
    """Return a well-formed request of a method whose fields have arbitrary values."""
    encoded: bytes = _message(method.input_type, Random(seed), 0).SerializeToString()
    return encoded


def mutant(message: Any, seed: int) -> bytes:
    """Return an honest request in which one field, wherever it is, has an arbitrary value.

    Of a repeated field it is often one item that is gone, twice there, or has such a value.
    """
    random = Random(seed)
    changed = type(message)()
    changed.CopyFrom(message)
    where = random.choice(list(_within(changed)))
    field = random.choice(where.DESCRIPTOR.fields)
    if not (field.is_repeated and random.random() < 0.7 and _change_item(where, field, random)):
        _replace(where, field, random)
    encoded: bytes = changed.SerializeToString()
    return encoded


def _replace(message: Any, field: FieldDescriptor, random: Random) -> None:
    message.ClearField(field.name)
    if field.is_repeated:
        _fill_repeated(message, field, random, _DEPTH - 2)
    elif field.message_type is None:
        setattr(message, field.name, random.choice(_PLAIN[field.type]))
    elif random.random() < 0.7:
        getattr(message, field.name).CopyFrom(_message(field.message_type, random, _DEPTH - 2))


def _change_item(message: Any, field: FieldDescriptor, random: Random) -> bool:
    """Change one item of a repeated field; False where there is none."""
    many = getattr(message, field.name)
    is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
    if is_map or not many:
        return False
    index = random.randrange(len(many))
    change = random.choice(("remove", "double", "replace"))
    if change == "remove":
        del many[index]
    elif change == "double" or field.message_type is not None:
        many.append(many[index])
    else:
        many[index] = random.choice(_PLAIN[field.type])
    return True


def _within(message: Any) -> Iterator[Any]:
    """Yield a message and all messages in it that have fields."""
    if message.DESCRIPTOR.fields:
        yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if not field.is_repeated:
            yield from _within(value)
        elif not field.message_type.GetOptions().map_entry:
            for one in value:
                yield from _within(one)
        elif field.message_type.fields_by_name["value"].message_type is not None:
            for one in value.values():
                yield from _within(one)


def _message(descriptor: Any, random: Random, depth: int) -> Any:
    message = message_factory.GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if random.random() < (0.15 if depth == 0 else 0.3):
            continue
        if field.is_repeated:
            _fill_repeated(message, field, random, depth)
        elif field.message_type is None:
            setattr(message, field.name, random.choice(_PLAIN[field.type]))
        elif depth < _DEPTH:
            getattr(message, field.name).CopyFrom(_message(field.message_type, random, depth + 1))
    return message


def _fill_repeated(message: Any, field: FieldDescriptor, random: Random, depth: int) -> None:
    many = getattr(message, field.name)
    if field.message_type is None:
        many.extend(random.choice(_PLAIN[field.type]) for _ in range(random.randrange(3)))
    elif field.message_type.GetOptions().map_entry:
        _fill_map(many, field.message_type, random, depth)
    elif depth < _DEPTH:
        for _ in range(random.randrange(3)):
            many.add().CopyFrom(_message(field.message_type, random, depth + 1))


def _fill_map(entries: Any, entry: Any, random: Random, depth: int) -> None:
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    chosen = random.choice(_PLAIN[key.type])
    if value.message_type is None:
        entries[chosen] = random.choice(_PLAIN[value.type])
    elif depth < _DEPTH:
        entries[chosen].CopyFrom(_message(value.message_type, random, depth + 1))
