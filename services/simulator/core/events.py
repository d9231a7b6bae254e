"""Events that the simulated programs leave on objects, as `kubectl describe` lists them.

As client-go's recorder: an event that is repeated is counted on the one that is there; from the
tenth message of one reason on they are combined; and who says too much of one object is heard
once in five minutes. So a busy workload leaves few events, whatever its size.

Source: client-go's event correlator (1.36); Kubernetes API reference, Event v1.
"""

import contextlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.objects import Object, stamp
from services.simulator.core.part import Outcome
from services.simulator.core.timetable import AT_ONCE

_DEFAULT_NAMESPACE = "default"
_LONGEST_NAME = 253
_LONGEST_MESSAGE = 1024
_REMEMBERED = 4096
_DISTINCT = 9
_SIMILAR_WITHIN = timedelta(minutes=10)
_BURST = 25
_REFILL = timedelta(minutes=5)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is to be told of an object."""

    reason: str
    message: str
    component: str
    is_warning: bool = False
    host: str = ""
    """The node on which the program runs that tells."""


@dataclass(slots=True)
class _Similar:
    messages: set[str] = field(default_factory=set)
    last: datetime = _EPOCH


@dataclass(slots=True)
class _Told:
    name: str
    count: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: datetime


class _Recent(Generic[V]):
    """The values of the keys that were used last."""

    def __init__(self) -> None:
        self._values: OrderedDict[tuple[str, ...], V] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> V | None:
        found = self._values.get(key)
        if found is not None:
            self._values.move_to_end(key)
        return found

    def put(self, key: tuple[str, ...], value: V) -> V:
        self._values[key] = value
        if len(self._values) > _REMEMBERED:
            self._values.popitem(last=False)
        return value


class Recorder:
    """Leaves events on objects; those that the API refuses (a namespace that goes) are lost.

    As a part it writes what was recorded since its last step: events follow what they tell of.
    """

    name = "events"

    def __init__(self, api: DirectApi) -> None:
        self._api = api
        self._recorded: list[tuple[Mapping[str, Any], Note]] = []
        self._similar: _Recent[_Similar] = _Recent()
        self._told: _Recent[_Told] = _Recent()
        self._buckets: _Recent[_Bucket] = _Recent()
        self._made = 0

    def record(self, obj: Mapping[str, Any], note: Note) -> None:
        """Tell of an object at the next step."""
        self._recorded.append((obj, note))

    def step(self, now: datetime) -> Outcome:
        """Write what was recorded."""
        recorded, self._recorded = self._recorded[:AT_ONCE], self._recorded[AT_ONCE:]
        for obj, note in recorded:
            self.write(obj, note, now)
        return Outcome(again=now if self._recorded else None)

    def write(self, obj: Mapping[str, Any], note: Note, now: datetime) -> None:
        """Tell of an object now, or that it is so once more."""
        meta = obj["metadata"]
        speaker = (note.component, note.host, obj["kind"], meta["uid"], str(note.is_warning))
        key, message = self._combined((*speaker, note.reason), note, now)
        if not self._may_speak(speaker, now):
            return
        namespace = meta.get("namespace") or _DEFAULT_NAMESPACE
        told = self._told.get(key)
        if told is not None and self._api.find("events", told.name, namespace) is not None:
            told.count += 1
            again = {"count": told.count, "lastTimestamp": stamp(now), "message": message}
            with contextlib.suppress(ApiError):
                self._api.patch("events", told.name, again, namespace)
            return
        self._made += 1
        # Two events of an object at one instant have two names.
        suffix = f".{(now - _EPOCH) // timedelta(microseconds=1) * 1000 + self._made % 1000:x}"
        name = f"{meta['name'][: _LONGEST_NAME - len(suffix)]}{suffix}"
        event = _event(obj, note, message, now)
        event["metadata"] = {"name": name, "namespace": namespace}
        with contextlib.suppress(ApiError):
            self._api.create("events", event)
            self._told.put(key, _Told(name, 1))

    def _combined(
        self, key: tuple[str, ...], note: Note, now: datetime
    ) -> tuple[tuple[str, ...], str]:
        """Return what identifies the event, and its message: that of many, if there are many."""
        message = note.message[:_LONGEST_MESSAGE]
        similar = self._similar.get(key) or self._similar.put(key, _Similar())
        if now - similar.last > _SIMILAR_WITHIN:
            similar.messages.clear()
        similar.last = now
        if message in similar.messages or len(similar.messages) < _DISTINCT:
            similar.messages.add(message)
            return (*key, message), message
        return key, f"(combined from similar events): {message}"[:_LONGEST_MESSAGE]

    def _may_speak(self, speaker: tuple[str, ...], now: datetime) -> bool:
        bucket = self._buckets.get(speaker) or self._buckets.put(speaker, _Bucket(_BURST, now))
        bucket.tokens = min(_BURST, bucket.tokens + (now - bucket.filled) / _REFILL)
        bucket.filled = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def _event(obj: Mapping[str, Any], note: Note, message: str, now: datetime) -> Object:
    meta = obj["metadata"]
    involved = {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        **({"namespace": meta["namespace"]} if "namespace" in meta else {}),
    }
    if obj["kind"] != "Node":  # whose events are about the machine, not a state of the object
        involved["resourceVersion"] = meta["resourceVersion"]
    return {
        "involvedObject": involved,
        "reason": note.reason,
        "message": message,
        "type": "Warning" if note.is_warning else "Normal",
        "count": 1,
        "firstTimestamp": stamp(now),
        "lastTimestamp": stamp(now),
        "source": {"component": note.component, **({"host": note.host} if note.host else {})},
        "reportingComponent": note.component,
        **({"reportingInstance": note.host} if note.host else {}),
    }
