"""The objects and their history: one counter of revisions, buckets, logs of changes.

It is apart from the store because it knows nothing of admission. Laws: every write gets the next
revision; what is stored is frozen; a bucket's log holds every change after its `horizon`, in order;
lists are in the order of etcd's keys (`namespace/name` as bytes); JSON is kept of the newest states
only, for their writers and watchers, so that a list of everything leaves nothing behind.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec

from services.simulator.core.api.frozen import FrozenDict, Sharing

Object = dict[str, Any]

INDEXED: Mapping[str, tuple[str, str]] = MappingProxyType({"pods": ("spec", "nodeName")})
"""The field by which a bucket's objects are found without looking at all: every kubelet, drain
and informer of a node asks for its pods."""

_ENCODED = 4096
"""Of how many of the newest states the JSON is kept once it was made."""


class Version:
    """One stored state of an object, with its JSON made once and shared by every early reader."""

    __slots__ = ("_cooled", "_members", "key", "object", "revision")

    def __init__(self, key: str, obj: FrozenDict, revision: int) -> None:
        self.key = key
        self.object: Object = obj
        self.revision = revision
        self._members: bytes | None = None
        self._cooled = False

    @property
    def members(self) -> bytes:
        """Return the JSON members but for kind and apiVersion, with the closing brace."""
        if self._members is not None:
            return self._members
        made = encode_members(self.object)
        if not self._cooled:
            self._members = made
        return made

    def cool(self) -> None:
        """Keep the JSON no longer."""
        self._members = None
        self._cooled = True


def encode_members(obj: Object) -> bytes:
    """Return the JSON of an object without its opening brace, kind and apiVersion."""
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    return msgspec.json.encode(rest)[1:]


class Change(StrEnum):
    """What a write did."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What a watcher is told.

    `version` is None for bookmarks and errors, whose `object` is made for them.
    """

    type: str
    object: Object
    version: Version | None = None


class Event:
    """One entry of a bucket's log.

    `previous` is the state before, `version` the state after (or the last one).
    """

    __slots__ = ("change", "departed", "plain", "previous", "version")

    def __init__(self, change: Change, version: Version, previous: Version | None) -> None:
        self.change = change
        self.version = version
        self.previous = previous
        self.departed: Version | None = None
        self.plain: WatchEvent | None = None
        """What watchers of everything are told, once one of them was."""

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
    indexed: tuple[str, str] | None = None
    """The field that `by_field` is about."""

    by_field: dict[str, dict[str, None]] = field(default_factory=dict)
    """The keys of objects by the value of a field, where they have one."""

    def move(self, key: str, old: Version | None, new: Version | None) -> None:
        """Follow an object in the index."""
        if self.indexed is None:
            return
        before, after = (self._value(state) for state in (old, new))
        if before == after:
            return
        if before is not None:
            self.by_field[before].pop(key)
            if not self.by_field[before]:
                del self.by_field[before]
        if after is not None:
            self.by_field.setdefault(after, {})[key] = None

    def _value(self, state: Version | None) -> str | None:
        if state is None or self.indexed is None:
            return None
        above, name = self.indexed
        value: str | None = state.object[above].get(name)
        return value

    def span(self, prefix: str, start: str = "") -> list[str]:
        """Return the keys below a prefix, in order, from `start` on."""
        low = bisect_left(self.keys, prefix + start)
        if not prefix:
            return self.keys[low:]
        return self.keys[low : bisect_left(self.keys, prefix[:-1] + chr(ord(prefix[-1]) + 1))]

    @property
    def end(self) -> int:
        """Return the position after the newest event."""
        return self.start + len(self.log)

    def position_after(self, revision: int) -> int:
        """Return the position of the first event after a revision."""
        return self.start + bisect_left(self.log, revision + 1, key=lambda event: event.revision)


class View:
    """Some keys in order, with the states that they had at one revision."""

    __slots__ = ("_now", "_then", "keys")

    def __init__(
        self, keys: list[str], now: Mapping[str, Version], then: Mapping[str, Version]
    ) -> None:
        self.keys = keys
        self._now = now
        self._then = then

    def __getitem__(self, key: str) -> Version:
        return self._then.get(key) or self._now[key]

    def __iter__(self) -> Iterator[Version]:
        return map(self.__getitem__, self.keys)


class Storage:
    """All buckets under one counter."""

    def __init__(self, *, history: int = 16384) -> None:
        self.revision = 0
        self.compacted = 0
        """Past states at or before this revision cannot be listed any more."""

        self._history = history
        self._buckets: dict[str, Bucket] = {}
        self._sharing = Sharing()
        self._warm: deque[Version] = deque()

    def bucket(self, name: str) -> Bucket:
        """Return a bucket; it springs into being on first use."""
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = Bucket(horizon=self.compacted, indexed=INDEXED.get(name))
            self._buckets[name] = bucket
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
        if found is None or not found.keys:
            return []
        objects = found.objects
        return [objects[key] for key in found.span(prefix)]

    def view(self, bucket: str, prefix: str, revision: int, start: str = "") -> View | None:
        """Return the states as of a revision, None if history does not reach that far.

        Args:
            bucket: where.
            prefix: of the keys that are wanted.
            revision: the present one or an earlier one.
            start: what follows the prefix in the first key that is wanted.
        """
        if revision < self.compacted:
            return None
        found = self.bucket(bucket)
        later = found.log[found.position_after(revision) - found.start :]
        if not later:
            return View(found.span(prefix, start), found.objects, {})
        if revision < found.horizon:
            return None
        then: dict[str, Version | None] = {}
        for event in reversed(later):
            then[event.version.key] = event.previous
        first = prefix + start
        keys = [key for key in found.span(prefix, start) if then.get(key, True) is not None]
        gone = [
            key
            for key, state in then.items()
            if state and key not in found.objects and key >= first and key.startswith(prefix)
        ]
        known = {key: state for key, state in then.items() if state is not None}
        return View(sorted([*keys, *gone]) if gone else keys, found.objects, known)

    def view_by_field(self, bucket: str, prefix: str, value: str, start: str = "") -> View:
        """Return the current states whose `INDEXED` field has a value; else as `view`."""
        found = self.bucket(bucket)
        keys = [key for key in found.by_field.get(value, ()) if key.startswith(prefix)]
        return View(sorted(key for key in keys if key >= prefix + start), found.objects, {})

    def write(self, bucket: str, key: str, obj: Object) -> Version:
        """Store a new state of an object and return it.

        `obj` and its metadata must be the caller's own.
        """
        found = self.bucket(bucket)
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        version = Version(key, self._sharing.freeze(obj), self.revision)
        previous = found.objects.get(key)
        found.objects[key] = version
        if previous is None:
            insort(found.keys, key)
        found.move(key, previous, version)
        self._keep_warm(version)
        self._record(found, Event(Change.MODIFIED if previous else Change.ADDED, version, previous))
        return version

    def remove(self, bucket: str, key: str) -> Version:
        """Delete an object and return its last state under the revision of the deletion."""
        found = self.bucket(bucket)
        previous = found.objects.pop(key)
        del found.keys[bisect_left(found.keys, key)]
        self.revision += 1
        version = at_revision(previous, self.revision)
        found.move(key, previous, None)
        self._keep_warm(version)
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

    def _keep_warm(self, version: Version) -> None:
        self._warm.append(version)
        if len(self._warm) > _ENCODED:
            self._warm.popleft().cool()

    def _record(self, bucket: Bucket, event: Event) -> None:
        bucket.log.append(event)
        if len(bucket.log) > self._history * 2:
            dropped = bucket.log[: self._history]
            del bucket.log[: self._history]
            bucket.start += len(dropped)
            bucket.horizon = dropped[-1].revision
        for listener in tuple(bucket.listeners):
            listener()
