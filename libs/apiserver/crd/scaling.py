"""What the scale subresource demands of the fields behind it: 32-bit counts, not negative."""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.crd.gotext import go_type, plain
from libs.apiserver.field_errors import FieldError

_MAX = 2**31 - 1


def replica_errors(resource: Mapping[str, Any], scale: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield what is wrong with the replicas that the spec asks for and the status tells."""
    yield from _count_errors(resource, scale["specReplicasPath"])
    yield from status_replica_errors(resource, scale)


def status_replica_errors(
    resource: Mapping[str, Any], scale: Mapping[str, Any]
) -> Iterator[FieldError]:
    """Yield what is wrong with the replicas that the status tells."""
    yield from _count_errors(resource, scale["statusReplicasPath"])


def _count_errors(resource: Mapping[str, Any], path: str) -> Iterator[FieldError]:
    value: Any = resource
    steps = path.removeprefix(".").split(".")
    for step in steps:
        if not isinstance(value, dict):
            yield _mistyped(path, value, "map[string]interface{}")
            return
        if step not in value:
            return
        value = value[step]
    if isinstance(value, bool) or not isinstance(value, int):
        yield _mistyped(path, value, "int64")
    elif value < 0:
        yield _wrong(path, value, "should be a non-negative integer")
    elif value > _MAX:
        yield _wrong(path, value, f"should be less than or equal to {_MAX}")


def _mistyped(path: str, value: Any, wanted: str) -> FieldError:
    got = f"{plain(value)} is of the type {go_type(value)}"
    return _wrong(path, 0, f"{path} accessor error: {got}, expected {wanted}")


def _wrong(path: str, value: int, complaint: str) -> FieldError:
    return FieldError("FieldValueInvalid", f"Invalid value: {value}: {complaint}", path)
