"""The objects and their history: one counter of revisions, buckets, logs of changes.

It is apart from the store because it knows nothing of admission. Laws: every write gets the next
revision; what is stored is frozen; a bucket's log holds every change after its `horizon`, in order;
lists are in the order of etcd's keys (`namespace/name` as bytes).
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec

from services.simulator.core.api.frozen import FrozenDict, freeze

Object = dict[str, Any]


class Version:
    """One stored state of an object, with its JSON made once and shared by every reader."""

    __slots__ = ("_members", "key", "object", "revision")

    def __init__(self, key: str, obj: FrozenDict, revision: int) -> None:
        self.key = key
        self.object: Object = obj
        self.revision = revision
        self._members: bytes | None = None

    @property
    def members(self) -> bytes:
        """Return the JSON members but for kind and apiVersion, with the closing brace."""
        if self._members is None:
            self._members = encode_members(self.object)
        return self._members


def encode_members(obj: Object) -> bytes:
    """Return the JSON of an object without its opening brace, kind and apiVersion."""
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    return msgspec.json.encode(rest)[1:]


class Change(StrEnum):
    """What a write did."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Event:
    """One entry of a bucket's log.

    `previous` is the state before, `version` the state after (or the last one).
    """

    __slots__ = ("change", "departed", "previous", "version")

    def __init__(self, change: Change, version: Version, previous: Version | None) -> None:
        self.change = change
        self.version = version
        self.previous = previous
        self.departed: Version | None = None

    @property
    def revision(self) -> int:
        """Return the revision of the write."""
        return self.version.revision

    def last_match(self) -> Version:
        """Return the previous state at this event's revision.

        What a watch is told that no longer selects it.
        """
        if self.departed is None:
            assert self.previous is not None
            self.departed = at_revision(self.previous, self.version.revision)
        return self.departed


def at_revision(version: Version, revision: int) -> Version:
    """Return the same state under another revision."""
    metadata = FrozenDict({**version.object["metadata"], "resourceVersion": str(revision)})
    return Version(version.key, FrozenDict({**version.object, "metadata": metadata}), revision)


@dataclass(slots=True)
class Bucket:
    """The objects of one resource, in key order, and the log of their changes."""

    objects: dict[str, Version] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    log: list[Event] = field(default_factory=list)
    start: int = 0
    """How many events were dropped from the log's front: positions stay valid."""

    horizon: int = 0
    """Changes at or before this revision are no longer in the log."""

    listeners: list[Callable[[], None]] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Return the position after the newest event."""
        return self.start + len(self.log)

    def position_after(self, revision: int) -> int:
        """Return the position of the first event after a revision."""
        return self.start + bisect_left(self.log, revision + 1, key=lambda event: event.revision)


class Storage:
    """All buckets under one counter."""

    def __init__(self, *, history: int = 16384) -> None:
        self.revision = 0
        self.compacted = 0
        """Past states at or before this revision cannot be listed any more."""

        self._history = history
        self._buckets: dict[str, Bucket] = {}

    def bucket(self, name: str) -> Bucket:
        """Return a bucket; it springs into being on first use."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = Bucket(horizon=self.revision)
        return bucket

    def buckets(self) -> Iterator[tuple[str, Bucket]]:
        """Yield every bucket with its name."""
        yield from list(self._buckets.items())

    def read(self, bucket: str, key: str) -> Version | None:
        """Return the current state of one object."""
        found = self._buckets.get(bucket)
        return found.objects.get(key) if found is not None else None

    def scan(self, bucket: str, prefix: str = "") -> list[Version]:
        """Return the current states below a prefix, in key order."""
        found = self._buckets.get(bucket)
        if found is None:
            return []
        objects = found.objects
        if not prefix:
            return [objects[key] for key in found.keys]
        low = bisect_left(found.keys, prefix)
        high = bisect_left(found.keys, prefix[:-1] + chr(ord(prefix[-1]) + 1))
        return [objects[key] for key in found.keys[low:high]]

    def scan_at(self, bucket: str, prefix: str, revision: int) -> list[Version] | None:
        """Return the states as of a past revision, None if history does not reach that far."""
        if revision < self.compacted:
            return None
        found = self.bucket(bucket)
        later = found.log[found.position_after(revision) - found.start :]
        if not later:
            return self.scan(bucket, prefix)
        if revision < found.horizon:
            return None
        states: dict[str, Version] = dict(found.objects)
        for event in reversed(later):
            if event.previous is None:
                states.pop(event.version.key, None)
            else:
                states[event.previous.key] = event.previous
        return [states[key] for key in sorted(states) if key.startswith(prefix)]

    def write(self, bucket: str, key: str, obj: Object) -> Version:
        """Store a new state of an object and return it.

        `obj` and its metadata must be the caller's own.
        """
        found = self.bucket(bucket)
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        version = Version(key, freeze(obj), self.revision)
        previous = found.objects.get(key)
        found.objects[key] = version
        if previous is None:
            insort(found.keys, key)
        self._record(found, Event(Change.MODIFIED if previous else Change.ADDED, version, previous))
        return version

    def remove(self, bucket: str, key: str) -> Version:
        """Delete an object and return its last state under the revision of the deletion."""
        found = self.bucket(bucket)
        previous = found.objects.pop(key)
        del found.keys[bisect_left(found.keys, key)]
        self.revision += 1
        version = at_revision(previous, self.revision)
        self._record(found, Event(Change.DELETED, version, previous))
        return version

    def compact(self) -> None:
        """Forget past states: lists at an old revision and their pages are gone; watches go on."""
        self.compacted = self.revision

    def forget(self) -> None:
        """Forget all history: a watch from before now is told that it is too old."""
        self.compact()
        for bucket in self._buckets.values():
            bucket.start = bucket.end
            bucket.log.clear()
            bucket.horizon = self.revision

    def _record(self, bucket: Bucket, event: Event) -> None:
        bucket.log.append(event)
        if len(bucket.log) > self._history * 2:
            dropped = bucket.log[: self._history]
            del bucket.log[: self._history]
            bucket.start += len(dropped)
            bucket.horizon = dropped[-1].revision
        for listener in tuple(bucket.listeners):
            listener()
