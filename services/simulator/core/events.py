"""Events that the simulated programs leave on objects, as `kubectl describe` lists them.

A repeated event is counted on the one that is there, as Kubernetes' own recorder does.

Source: Kubernetes API reference, Event v1.
"""

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.objects import Object, stamp

_DEFAULT_NAMESPACE = "default"
_LONGEST_NAME = 230  # so that the whole name stays below 253 characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is to be told of an object."""

    reason: str
    message: str
    component: str
    is_warning: bool = False


def record(api: DirectApi, obj: Mapping[str, Any], note: Note, now: datetime) -> None:
    """Leave an event on an object; one that the API refuses (a namespace that goes) is lost."""
    meta = obj["metadata"]
    namespace = meta.get("namespace") or _DEFAULT_NAMESPACE
    name = f"{meta['name'][:_LONGEST_NAME]}.{_digest(meta['uid'], note)}"
    known = api.find("events", name, namespace)
    with contextlib.suppress(ApiError):
        if known is None:
            api.create("events", _event(obj, note, name, namespace, now))
        else:
            again = {"count": known.get("count", 1) + 1, "lastTimestamp": stamp(now)}
            api.patch("events", name, again, namespace)


def _digest(uid: str, note: Note) -> str:
    text = "\0".join((uid, note.reason, note.message, note.component))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _event(obj: Mapping[str, Any], note: Note, name: str, namespace: str, now: datetime) -> Object:
    meta = obj["metadata"]
    involved = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "resourceVersion": meta["resourceVersion"],
        **({"namespace": meta["namespace"]} if "namespace" in meta else {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": involved,
        "reason": note.reason,
        "message": note.message,
        "type": "Warning" if note.is_warning else "Normal",
        "count": 1,
        "firstTimestamp": stamp(now),
        "lastTimestamp": stamp(now),
        "source": {"component": note.component},
        "reportingComponent": note.component,
    }
