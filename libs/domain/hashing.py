"""The drift hash of a NodePool's template, equal bit by bit to the one Karpenter writes.

Apart because an existing cluster's annotations must stay valid: a hash that differs would drift
every node. The value is a walk over Go structs, so names of Go types and fields, and whether a
field is there, count.

Source: `docs/sources.md` 9; the test vectors there were made by the Go library.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from libs.domain.duration import NEVER, parse_go_nanoseconds
from libs.domain.errors import InvalidRequest

VERSION = "v3"
HASH_ANNOTATION = "karpenter.sh/nodepool-hash"
VERSION_ANNOTATION = "karpenter.sh/nodepool-hash-version"

_OFFSET = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_MASK = 2**64 - 1
_SECONDS_FROM_YEAR_ONE_TO_1970 = 62_135_596_800

_Field = tuple[str, int | None]


def nodepool_hash(template: Mapping[str, Any]) -> str:
    """Return the hash of a pool's `spec.template` as Kubernetes holds it, in decimal.

    Raises:
        InvalidRequest: a duration or timestamp does not parse.
    """
    metadata = template.get("metadata") or {}
    fields = (
        ("ObjectMeta", _object_meta(metadata)),
        ("Spec", _spec(template.get("spec") or {})),
    )
    return str(_struct("NodeClaimTemplate", fields))


def _object_meta(metadata: Mapping[str, Any]) -> int | None:
    fields = (
        ("Labels", _mapping(metadata.get("labels"))),
        ("Annotations", _mapping(metadata.get("annotations"))),
    )
    # A Go struct all of whose fields are zero is a zero value itself.
    return _struct("ObjectMeta", fields) if any(h is not None for _, h in fields) else None


def _spec(spec: Mapping[str, Any]) -> int:
    fields = (
        ("Taints", _list(spec.get("taints"), _taint)),
        ("StartupTaints", _list(spec.get("startupTaints"), _taint)),
        ("NodeClassRef", _optional(spec.get("nodeClassRef"), _node_class)),
        ("TerminationGracePeriod", _optional(spec.get("terminationGracePeriod"), _grace_period)),
        ("ExpireAfter", _expire_after(spec.get("expireAfter"))),
    )
    return _struct("NodeClaimTemplateSpec", fields)


def _taint(taint: Mapping[str, Any]) -> int:
    fields = (
        ("Key", _text(taint.get("key"))),
        ("Value", _text(taint.get("value"))),
        ("Effect", _text(taint.get("effect"))),
        ("TimeAdded", _optional(taint.get("timeAdded"), _timestamp)),
    )
    return _struct("Taint", fields)


def _node_class(reference: Mapping[str, Any]) -> int:
    names = (("Kind", "kind"), ("Name", "name"), ("Group", "group"))
    return _struct(
        "NodeClassReference", [(go_name, _text(reference.get(name))) for go_name, name in names]
    )


def _grace_period(text: str) -> int:
    nanos = parse_go_nanoseconds(text)
    return _struct("Duration", (("Duration", _integer(nanos) if nanos else None),))


def _expire_after(text: str | None) -> int | None:
    if text is None or text == NEVER:
        return None
    # A pointer in Go: a literal zero is there, and counts.
    return _struct("NillableDuration", (("Duration", _integer(parse_go_nanoseconds(text))),))


def _timestamp(text: str) -> int:
    """Hash a metav1.Time: one field, in its binary form, as a process in UTC has it."""
    try:
        instant = datetime.fromisoformat(text).astimezone(UTC).replace(microsecond=0)
    except ValueError:
        raise InvalidRequest(f"{text!r} is not a timestamp", field="timeAdded") from None
    seconds = int(instant.timestamp()) + _SECONDS_FROM_YEAR_ONE_TO_1970
    version, nanoseconds, zone_minutes = b"\x01", bytes(4), bytes(2)
    binary = version + seconds.to_bytes(8, "big") + nanoseconds + zone_minutes
    return _struct("Time", (("Time", _fnv(binary)),))


def _struct(type_name: str, fields: Iterable[_Field]) -> int:
    folded = _fnv(type_name.encode())
    for name, hashed in fields:
        if hashed is not None:
            folded = _finish(folded ^ _ordered(_fnv(name.encode()), hashed))
    return folded


def _mapping(pairs: Mapping[str, str] | None) -> int | None:
    if pairs is None:
        return None
    folded = 0
    for key, value in pairs.items():
        folded ^= _ordered(_fnv(key.encode()), _fnv(value.encode()))
    return _finish(folded)


def _list(items: Sequence[Any] | None, hash_item: Callable[[Any], int]) -> int | None:
    if items is None:
        return None
    folded = 0
    for item in items:
        folded ^= hash_item(item)
    return folded


def _optional(value: Any, hash_value: Callable[[Any], int]) -> int | None:
    return None if value is None else hash_value(value)


def _text(text: str | None) -> int | None:
    return _fnv(text.encode()) if text else None


def _integer(number: int) -> int:
    return _fnv(number.to_bytes(8, "little", signed=True))


def _ordered(first: int, second: int) -> int:
    return _fnv(first.to_bytes(8, "little") + second.to_bytes(8, "little"))


def _finish(folded: int) -> int:
    return _fnv(folded.to_bytes(8, "little"))


def _fnv(data: bytes) -> int:
    """FNV-1 (not 1a), 64 bits."""
    folded = _OFFSET
    for byte in data:
        folded = (folded * _PRIME & _MASK) ^ byte
    return folded
