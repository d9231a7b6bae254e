"""Validation of events, in the old API and in the new one.

Source: Kubernetes API reference, Event; wordings as recorded from kube-apiserver 1.36. Both APIs
store the same objects and name their fields as the old one does.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import FieldError, required, wrong

Object = dict[str, Any]
_LIMITS = (("reportingInstance", 128), ("action", 128), ("reason", 128))
_LONGEST_NOTE = 1024
_ELSEWHERE = "does not match event.namespace"


def validate_old(obj: Object) -> list[FieldError]:
    """Return what is wrong with an event of the old API."""
    return list(_validate(obj, obj.get("involvedObject") or {}, "reportingComponent"))


def validate_new(obj: Object) -> list[FieldError]:
    """Return what is wrong with an event of the new API that is to be made."""
    found = list(
        _validate(obj, _of(obj, "regarding", "involvedObject") or {}, "reportingController")
    )
    series = obj.get("series")
    if series is not None:
        if series.get("count", 0) < 2:
            found.append(wrong("series.count", "", "should be at least 2"))
        if not series.get("lastObservedTime"):
            found.append(required("series.lastObservedTime"))
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


def _of(obj: Object, new: str, old: str) -> Any:
    """Return a field by either API's name for it."""
    return obj.get(new, obj.get(old))


def _validate(obj: Object, about: Stored, reporter: str) -> Iterator[FieldError]:
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
