"""The event recorder: Kubernetes Events for people, said once and not too often.

Laws:
- An event whose reason and dedupe values were recorded within its window is dropped, whatever its
  object and message say.
- An event beyond its reason's rate is dropped.
- Recording never waits and never fails: events are written one after the other in the background, a
  full queue drops the oldest, and an event that the server refuses is logged and dropped.

Source: `docs/sources.md` 6; the component's name is ours.
"""

import asyncio
import collections
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from libs.domain.errors import JoinerError
from libs.kube import documents
from libs.kube.api import EVENTS, KubeApi, Resource
from libs.runtime.clock import Clock
from libs.runtime.randomness import Random

logger = logging.getLogger(__name__)

COMPONENT = "joiner"

_QUEUE = 1000
_REMEMBERED = 20_000
_MAX_MESSAGE = 1024
_MAX_STEM = 230  # of names, which end at 253 characters
_DEFAULT_WINDOW = timedelta(minutes=2)
_CLUSTER_SCOPED_IN = "default"
_TIME = "%Y-%m-%dT%H:%M:%SZ"


class EventType(StrEnum):
    """Whether people need to look."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Involved:
    """The object that an event is about."""

    resource: Resource
    name: str
    namespace: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something to be said about an object."""

    about: Involved
    type: EventType = EventType.NORMAL
    reason: str
    """CamelCase."""
    message: str
    dedupe: tuple[str, ...] = ()
    """With the reason, what makes it a repetition; empty: it never is one."""
    window: timedelta = _DEFAULT_WINDOW
    """How long a repetition is dropped after the event was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A token bucket: `burst` at once, `per_second` for ever."""

    per_second: float
    burst: int


class EventRecorder:
    """Writes events; `run` is a root task."""

    def __init__(
        self, api: KubeApi, clock: Clock, random: Random, rates: Mapping[str, Rate] | None = None
    ) -> None:
        """Take the rates of the reasons that have one."""
        self._api = api
        self._clock = clock
        self._random = random
        self._buckets = {reason: _Bucket(rate) for reason, rate in (rates or {}).items()}
        self._said: collections.OrderedDict[tuple[str, ...], datetime] = collections.OrderedDict()
        self._queue: collections.deque[tuple[Event, datetime]] = collections.deque(maxlen=_QUEUE)
        self._filled = asyncio.Event()

    def record(self, event: Event) -> None:
        """Write an event soon, unless it is a repetition or too much."""
        now = self._clock.now()
        if self._is_repetition(event, now):
            return
        bucket = self._buckets.get(event.reason)
        if bucket is not None and not bucket.take(self._clock.monotonic()):
            return
        self._queue.append((event, now))
        self._filled.set()

    async def run(self) -> None:
        """Write what was recorded, until cancelled."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._queue:
                await self._write(*self._queue.popleft())

    def _is_repetition(self, event: Event, now: datetime) -> bool:
        if not event.dedupe:
            return False
        key = (event.reason.lower(), *event.dedupe)
        until = self._said.get(key)
        if until is not None and now < until:
            return True
        self._said[key] = now + event.window
        self._said.move_to_end(key)
        while len(self._said) > _REMEMBERED:
            self._said.popitem(last=False)
        return False

    async def _write(self, event: Event, at: datetime) -> None:
        try:
            await documents.create(self._api, EVENTS, self._document(event, at))
        except JoinerError as error:
            logger.warning(
                "cannot write event", extra={"reason": event.reason, "error": str(error)}
            )

    def _document(self, event: Event, at: datetime) -> documents.Document:
        about = event.about
        namespace = about.namespace or _CLUSTER_SCOPED_IN
        instant = at.astimezone(UTC).strftime(_TIME)
        return {
            "metadata": {
                "name": f"{about.name[:_MAX_STEM]}.{self._random.getrandbits(64):016x}",
                "namespace": namespace,
            },
            "involvedObject": {
                "apiVersion": about.resource.api_version,
                "kind": about.resource.kind,
                "name": about.name,
                **({"namespace": about.namespace} if about.namespace else {}),
                **({"uid": about.uid} if about.uid else {}),
            },
            "type": event.type.value,
            "reason": event.reason,
            "message": _shortened(event.message),
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "firstTimestamp": instant,
            "lastTimestamp": instant,
            "count": 1,
        }


class _Bucket:
    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._tokens = float(rate.burst)
        self._at: float | None = None

    def take(self, now: float) -> bool:
        if self._at is not None:
            grown = self._tokens + (now - self._at) * self._rate.per_second
            self._tokens = min(float(self._rate.burst), grown)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


def _shortened(message: str) -> str:
    return message if len(message) <= _MAX_MESSAGE else message[: _MAX_MESSAGE - 3] + "..."
