"""Events of the scheduler, as `kubectl describe` lists them: each told once, then counted.

Apart from the recorder of the other programs (`core/events.py`), because kube-scheduler speaks
events.k8s.io: no first and last time but that of the event, and a series for what is repeated.
Laws: what is repeated within six minutes is one event; its number is written when it is repeated
first and when the series ends.

Source: Kubernetes API reference, Event v1 events.k8s.io; client-go's recorder (1.36).
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from services.simulator.core.api.direct import DirectApi
from services.simulator.core.api.errors import ApiError
from services.simulator.core.objects import Object, micro_stamp
from services.simulator.core.scheduler.queue import DEFAULT_SCHEDULER

_EVENTS = "events.events.k8s.io"
_INSTANCE = f"{DEFAULT_SCHEDULER}-simulator"
_SERIES_ENDS = timedelta(minutes=6)
_LONGEST_NOTE, _LONGEST_NAME = 1024, 253
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_REFERENCED = ("name", "namespace", "uid", "resourceVersion")

_Key = tuple[str, str, str]
"""Uid and resourceVersion of the pod, and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is to be told of a pod."""

    reason: str
    action: str
    note: str
    is_warning: bool = False


@dataclass(slots=True)
class _Told:
    namespace: str
    name: str
    last: datetime
    count: int = 1


def refusal(message: str) -> Note:
    """Return the event of a pod that found no place."""
    note = message if len(message) <= _LONGEST_NOTE else f"{message[: _LONGEST_NOTE - 4]} ..."
    return Note(reason="FailedScheduling", action="Scheduling", note=note, is_warning=True)


def success(key: str, node: str) -> Note:
    """Return the event of a pod that was bound."""
    note = f"Successfully assigned {key} to {node}"
    return Note(reason="Scheduled", action="Binding", note=note)


def preempted(preemptor: Mapping[str, Any], node: str) -> Note:
    """Return the event of a pod that has to go for another one."""
    note = f"Preempted by pod {preemptor['metadata']['uid']} on node {node}"
    return Note(reason="Preempted", action="Preempting", note=note)


class Recorder:
    """Leaves events on pods; those that the API refuses (a namespace that goes) are lost."""

    def __init__(self, api: DirectApi) -> None:
        self._api = api
        self._told: dict[_Key, _Told] = {}
        self._made = 0
        self._swept: datetime | None = None
        self._unwritten: set[_Key] = set()
        """Series with more in them than is written."""

    def record(self, pod: Mapping[str, Any], note: Note, now: datetime) -> None:
        """Tell of a pod, or that it is so once more."""
        meta = pod["metadata"]
        key = (meta["uid"], meta["resourceVersion"], note.reason)
        told = self._told.get(key)
        if told is not None:
            told.count, told.last = told.count + 1, now
            if told.count == 2:
                self._count(told)
            else:
                self._unwritten.add(key)
            return
        self._made += 1
        # Two events of a pod at one instant have two names.
        number = (now - _EPOCH) // timedelta(microseconds=1) * 1000 + self._made % 1000
        suffix = f".{number:x}"
        name = f"{meta['name'][: _LONGEST_NAME - len(suffix)]}{suffix}"
        event = {
            "metadata": {"name": name, "namespace": meta["namespace"]},
            "eventTime": micro_stamp(now),
            "reportingController": DEFAULT_SCHEDULER,
            "reportingInstance": _INSTANCE,
            "action": note.action,
            "reason": note.reason,
            "regarding": _reference(pod),
            "note": note.note,
            "type": "Warning" if note.is_warning else "Normal",
        }
        with contextlib.suppress(ApiError):
            self._api.create(_EVENTS, event, meta["namespace"])
            self._told[key] = _Told(meta["namespace"], name, now)

    def sweep(self, now: datetime) -> None:
        """End the series that were not repeated for six minutes, and write their numbers."""
        if self._swept is not None and now < self._swept + _SERIES_ENDS:
            return
        self._swept = now
        for key, told in list(self._told.items()):
            if told.last + _SERIES_ENDS < now:
                del self._told[key]
                if key in self._unwritten:
                    self._unwritten.discard(key)
                    self._count(told)

    def next(self) -> datetime | None:
        """Return when numbers may have to be written, None if all are."""
        return self._swept + _SERIES_ENDS if self._swept and self._unwritten else None

    def _count(self, told: _Told) -> None:
        series = {"count": told.count, "lastObservedTime": micro_stamp(told.last)}
        with contextlib.suppress(ApiError):
            self._api.patch(_EVENTS, told.name, {"series": series}, told.namespace)


def _reference(pod: Mapping[str, Any]) -> Object:
    meta = {name: pod["metadata"][name] for name in _REFERENCED}
    return {"apiVersion": "v1", "kind": "Pod", **meta}
