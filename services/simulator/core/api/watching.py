"""Watches without an event loop: a cursor into a bucket's log, read by `poll`.

A callback wakes the reader. A slow reader costs nothing but its position; when the log has moved
past it, it is told 410 like any other late watch. Laws: events come in order of writing; after an
ERROR nothing follows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from services.simulator.core.api import errors
from services.simulator.core.api.storage import (
    Bucket,
    Change,
    Event,
    Object,
    Version,
    WatchEvent,
)

Selects = Callable[[Object], bool]

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStart:
    """Where and how a watch begins."""

    since: int | None
    """Revision after which events are wanted; None asks for the present state first."""

    prefix: str = ""
    initial: tuple[Version, ...] = ()
    bookmark: bool = False
    """Whether the initial state ends with a bookmark."""

    blank: Any = None
    """The object of bookmarks, with kind and apiVersion."""


class Watch:
    """One open watch.

    `wake` is called (synchronously, from the writer) whenever `poll` may have news.
    """

    def __init__(
        self, bucket: Bucket, start: WatchStart, selects: Selects | None, revision: int
    ) -> None:
        self.wake: Callable[[], None] | None = None
        self.closed = False
        self._bucket = bucket
        self._prefix = start.prefix
        self._selects = selects
        self._blank = start.blank
        self._revision = revision
        self._pending = [WatchEvent("ADDED", version.object, version) for version in start.initial]
        if start.bookmark:
            self._pending.append(self._bookmark({INITIAL_EVENTS_END: "true"}))
        self._after = revision if start.since is None else start.since
        self._cursor = bucket.position_after(self._after)
        if self._after < bucket.horizon:
            self._pending = [too_old(self._after, revision)]
        bucket.listeners.append(self._notify)

    def poll(self) -> list[WatchEvent]:
        """Return the events since the last call, none if there is nothing new."""
        events, self._pending = self._pending, []
        if any(event.type == "ERROR" for event in events):
            self.close()
        if self.closed:
            return events
        bucket = self._bucket
        if self._cursor < bucket.start:
            self.close()
            return [*events, too_old(self._after, bucket.horizon)]
        news = bucket.log[self._cursor - bucket.start :]
        if news:
            self._cursor = bucket.end
            self._after = news[-1].revision
            if self._selects is None and not self._prefix:
                events += [event.plain or _told_plainly(event) for event in news]
            else:
                events += [told for event in news if (told := self._translate(event)) is not None]
        return events

    def bookmark(self, revision: int) -> WatchEvent:
        """Return a bookmark that says the watch has seen everything up to `revision`."""
        self._revision = revision
        return self._bookmark(None)

    def close(self) -> None:
        """End the watch; closing twice is nothing."""
        if not self.closed:
            self.closed = True
            self._bucket.listeners.remove(self._notify)
            self._notify()

    def _notify(self) -> None:
        if self.wake is not None:
            self.wake()

    def _translate(self, event: Event) -> WatchEvent | None:
        version, previous = event.version, event.previous
        if not version.key.startswith(self._prefix):
            return None
        selects = self._selects
        if selects is None:
            return event.plain or _told_plainly(event)
        before = previous is not None and selects(previous.object)
        after = event.change is not Change.DELETED and selects(version.object)
        if after:
            return WatchEvent("MODIFIED" if before else "ADDED", version.object, version)
        if not before:
            return None
        last = version if event.change is Change.DELETED else event.last_match()
        return WatchEvent("DELETED", last.object, last)

    def _bookmark(self, annotations: dict[str, str] | None) -> WatchEvent:
        metadata: dict[str, Any] = {"resourceVersion": str(self._revision)}
        if annotations:
            metadata["annotations"] = annotations
        return WatchEvent("BOOKMARK", {**self._blank, "metadata": metadata})


def _told_plainly(event: Event) -> WatchEvent:
    """Return what everybody is told who selects everything; made once."""
    told = WatchEvent(event.change.value, event.version.object, event.version)
    event.plain = told
    return told


def too_old(since: int, oldest: int) -> WatchEvent:
    """Return the ERROR event of a watch that asks for forgotten history."""
    error = errors.expired(f"too old resource version: {since} ({oldest})")
    return WatchEvent("ERROR", error.status)
