"""Validation of what Kubernetes writes into volumes as files: keys, fields of the pod, tokens.

Source: Kubernetes API reference, ProjectedVolumeSource, KeyToPath, DownwardAPIVolumeFile; wordings
as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from libs.apiserver.checks import Stored, file_below, file_mode, present
from libs.apiserver.field_errors import FieldError, not_allowed, required, wrong
from libs.apiserver.rules.environment import (
    FIELDS_OF_FILES,
    validate_field,
    validate_resource_field,
)

_NAMED = ("secret", "configMap")
_SHORTEST, _LONGEST = 10 * 60, 1 << 32


def validate_items(items: Sequence[Stored], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with keys and the paths that they are written to."""
    for index, item in enumerate(items):
        where = f"{at}[{index}]"
        yield from present(item, where, "key", "path")
        yield from file_below(item.get("path", ""), f"{where}.path")
        yield from file_mode(item, where, "mode")


def validate_files(files: Sequence[Stored], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with files of the pod's fields; the list is named, not the file."""
    for file in files:
        yield from present(file, at, "path")
        yield from file_below(file.get("path", ""), f"{at}.path")
        if "fieldRef" in file:
            yield from validate_field(file["fieldRef"], f"{at}.fieldRef", FIELDS_OF_FILES)
            if "resourceFieldRef" in file:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                yield wrong(at, "resource", why)
        elif "resourceFieldRef" in file:
            where = f"{at}.resourceFieldRef"
            yield from validate_resource_field(file["resourceFieldRef"], where, of_volume=True)
        else:
            yield required(at, "one of fieldRef and resourceFieldRef is required")
        yield from file_mode(file, at, "mode")


def validate_projected(source: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a volume of several sources, each with files of its own."""
    yield from file_mode(source, at, "defaultMode")
    taken: set[str] = set()
    for index, projection in enumerate(source.get("sources") or ()):
        where = f"{at}.sources[{index}]"
        yield from _validate_projection(projection, where, at)
        for path, shown in _paths(projection):
            if path in taken:
                yield wrong(at, shown, "conflicting duplicate paths")
            taken.add(path)
        if len(projection) > 1:
            yield not_allowed(where, "may not specify more than 1 volume type per source")


def _validate_projection(projection: Stored, at: str, whole: str) -> Iterator[FieldError]:
    for kind in _NAMED:
        if kind in projection:
            yield from present(projection[kind], f"{at}.{kind}", "name")
            yield from validate_items(projection[kind].get("items") or (), f"{at}.{kind}.items")
    if "downwardAPI" in projection:
        yield from validate_files(projection["downwardAPI"].get("items") or (), f"{at}.downwardAPI")
    if "serviceAccountToken" in projection:
        token = projection["serviceAccountToken"]
        yield from _validate_token(token, f"{at}.serviceAccountToken", whole)


def _validate_token(token: Stored, at: str, whole: str) -> Iterator[FieldError]:
    seconds = token.get("expirationSeconds", 0)
    if seconds < _SHORTEST:
        why = "may not specify a duration less than 10 minutes"
        yield wrong(f"{at}.expirationSeconds", seconds, why)
    if seconds > _LONGEST:
        why = "may not specify a duration larger than 2^32 seconds"
        yield wrong(f"{at}.expirationSeconds", seconds, why)
    yield from present(token, whole, "path")
    yield from file_below(token.get("path", ""), f"{whole}.path")


def _paths(projection: Stored) -> Iterator[tuple[str, Any]]:
    """Yield the paths that a source writes, each with what a refusal shows of it."""
    for kind in _NAMED:
        for item in (projection.get(kind) or {}).get("items") or ():
            if item.get("path"):
                yield item["path"], projection[kind].get("name", "")
    for file in (projection.get("downwardAPI") or {}).get("items") or ():
        if file.get("path"):
            yield file["path"], file["path"]
