"""Validation of events, in the old API and in the new one.

Source: Kubernetes API reference, Event; wordings as recorded from kube-apiserver 1.36. Both APIs
store the same objects and name their fields as the old one does.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import FieldError, required, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.types.internal import internal

Object = dict[str, Any]
_LIMITS = (("reportingInstance", 128), ("action", 128), ("reason", 128))
_LONGEST_NOTE = 1024
_ELSEWHERE = "does not match event.namespace"


def validate_old(obj: Object) -> list[FieldError]:
    """Return what is wrong with an event of the old API."""
    return list(_validate(obj, "reportingComponent"))


def validate_new(obj: Object) -> list[FieldError]:
    """Return what is wrong with an event of the new API."""
    return list(_validate(obj, "reportingController"))


def validate_created(obj: Object) -> list[FieldError]:
    """Return what is wrong with an event that is made through the new API, beside that."""
    found = list(_validate_series(obj))
    if not obj.get("eventTime"):
        found.append(required("eventTime"))
    kind = obj.get("type", "")
    if kind not in ("Normal", "Warning"):
        found.append(wrong("type", "", f"has invalid value: {kind}"))
    for name, shown in (
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ):
        if _of(obj, name, shown):
            found.append(wrong(shown, "", "needs to be unset"))
    return found


def fixed(new: Object, old: Stored) -> list[FieldError]:
    """Refuse changes of an event through the new API, where only its series may go on."""
    found = list(_validate_series(new)) if new.get("series") != old.get("series") else []
    for name, shown, type_ in _FIXED:
        value = _of(new, name, shown)
        if (value or None) != (_of(old, name, shown) or None):
            found.append(wrong(shown, internal(type_, value), IMMUTABLE))
    return found


_FIXED = (
    ("regarding", "involvedObject", "core/v1.ObjectReference"),
    ("reason", "reason", "string"),
    ("note", "message", "string"),
    ("deprecatedSource", "source", "core/v1.EventSource"),
    ("deprecatedFirstTimestamp", "firstTimestamp", "*time"),
    ("deprecatedLastTimestamp", "lastTimestamp", "*time"),
    ("deprecatedCount", "count", "int32"),
    ("reason", "reason", "string"),
    ("type", "type", "string"),
    ("eventTime", "eventTime", "*microtime"),
    ("action", "action", "string"),
    ("related", "related", "*core/v1.ObjectReference"),
    ("reportingController", "reportingController", "string"),
    ("reportingInstance", "reportingInstance", "string"),
)
"""What never changes: its name in the new API and in the old one, and its type, in the order in
which Kubernetes compares them (the reason twice)."""


def _validate_series(obj: Object) -> Iterator[FieldError]:
    series = obj.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield wrong("series.count", "", "should be at least 2")
    if not series.get("lastObservedTime"):
        yield required("series.lastObservedTime")


def _of(obj: Stored, new: str, old: str) -> Any:
    """Return a field by either API's name for it."""
    return obj.get(new, obj.get(old))


def _validate(obj: Object, reporter: str) -> Iterator[FieldError]:
    about = _of(obj, "regarding", "involvedObject") or {}
    own, other = obj["metadata"].get("namespace", ""), about.get("namespace", "")
    at = "involvedObject.namespace"
    if not obj.get("eventTime"):
        if (not other and own not in ("", "default")) or (other and own != other):
            yield wrong(at, other, _ELSEWHERE)
        return
    if not other and own not in ("default", "kube-system"):
        yield wrong(at, other, _ELSEWHERE)
    controller = _of(obj, "reportingController", "reportingComponent") or ""
    if not controller:
        yield required(reporter)
    yield from formed(controller, reporter, names.qualified_name)
    for name, limit in _LIMITS:
        value = obj.get(name, "")
        if not value:
            yield required(name)
        if len(value) > limit:
            yield wrong(name, "", f"can have at most {limit} characters")
    if len(_of(obj, "note", "message") or "") > _LONGEST_NOTE:
        yield wrong("message", "", f"can have at most {_LONGEST_NOTE} characters")
