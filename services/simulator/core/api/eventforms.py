"""Events have two APIs over the same objects: core/v1 is stored, events.k8s.io/v1 is a view.

Source: Kubernetes API reference, Event v1 core and Event v1 events.k8s.io.
"""

from typing import Any

Object = dict[str, Any]

_TO_NEW = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_TO_OLD = {new: old for old, new in _TO_NEW.items()}


def from_core(event: Object) -> Object:
    """Return a stored event as events.k8s.io/v1 shows it."""
    view = {_TO_NEW.get(name, name): value for name, value in event.items()}
    for name in ("reportingController", "reportingInstance"):
        if not view.get(name):
            view.pop(name, None)
    return {**view, "apiVersion": "events.k8s.io/v1"}


def to_core(event: Object) -> Object:
    """Return an event of events.k8s.io/v1 as it is stored."""
    stored = {_TO_OLD.get(name, name): value for name, value in event.items()}
    for name in ("reportingComponent", "reportingInstance"):
        stored.setdefault(name, "")
    stored.setdefault("involvedObject", {})
    return {**stored, "apiVersion": "v1"}
