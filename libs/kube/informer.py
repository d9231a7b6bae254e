"""Informers: list a kind, then watch it, for ever, and tell a sink what is there.

Laws:
- After a list is taken, the sink knows exactly what it held: objects that vanished are removed.
- A list that lost over half of what was known is taken only after a second one confirms it.
- An object that was deleted and created again under its name is removed before the new one is told.
- A kind that is not installed counts as empty and is asked for again; so does one that is installed
  later or uninstalled.
- One object that cannot be read is set aside; what cannot be read at all is listed anew.
- No error ends an informer; a watch goes on where it was, a forgotten revision lists anew.

Nothing is kept of the objects but their names and uids: the sink decides what to remember.
"""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeAlias

from libs.domain.errors import JoinerError, NotFound, RevisionGone, Unavailable
from libs.kube.api import KubeApi, Resource
from libs.kube.objects.decoding import BrokenObject, ObjectList, decode_event, decode_list
from libs.kube.objects.kinds import KubeObject, struct_of
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from libs.runtime.randomness import Random

logger = logging.getLogger(__name__)

PAGE_SIZE = 500

_CONFIRM_AFTER = timedelta(seconds=2)
"""Before a list that lost over half is asked for a second time."""

_ABSENT_RETRY = timedelta(seconds=10)
"""Between two looks whether a kind has been installed."""

_WATCH_SECONDS = 300
"""Shortest time after which a server ends a watch by itself; the longest is twice that."""

_HEALTHY_AFTER = timedelta(seconds=10)
"""A watch that lasted so long was no failure, whatever it said."""

_Name: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """Which object is gone; `uid` is empty if it was never readable."""

    namespace: str
    name: str
    uid: str


class Sink(Protocol):
    """Where informers tell what they see; each call is complete when it returns."""

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        """Take an object that is new, changed or the same as before."""

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget an object."""

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        """Take note of an object that cannot be read; what is known of it is old."""


class Informers:
    """One informer per kind."""

    def __init__(
        self, api: KubeApi, resources: Iterable[Resource], sink: Sink, clock: Clock, random: Random
    ) -> None:
        self._informers: Mapping[Resource, Informer] = {
            resource: Informer(api, resource, sink, clock, random) for resource in resources
        }

    async def run(self) -> None:
        """Run all until cancelled."""
        async with asyncio.TaskGroup() as group:
            for resource, informer in self._informers.items():
                group.create_task(informer.run(), name=f"informer {resource.plural}")

    async def wait_synced(self) -> None:
        """Wait until the first list of every kind is taken."""
        for informer in self._informers.values():
            await informer.synced.wait()

    def unsynced(self) -> tuple[str, ...]:
        """Return the kinds whose first list is missing."""
        return tuple(
            resource.kind
            for resource, informer in self._informers.items()
            if not informer.synced.is_set()
        )

    async def relist(self, resource: Resource) -> None:
        """List a kind anew and wait until that list is taken: a read of what is stored now."""
        await self._informers[resource].relist()


class Informer:
    """Follows one kind."""

    def __init__(
        self, api: KubeApi, resource: Resource, sink: Sink, clock: Clock, random: Random
    ) -> None:
        struct = struct_of(resource.api_version, resource.kind)
        if struct is None:
            raise ValueError(f"there is no struct for {resource.kind}")
        self.synced = asyncio.Event()
        self._api = api
        self._resource = resource
        self._struct: type[KubeObject] = struct
        self._sink = sink
        self._clock = clock
        self._random = random
        self._backoff = Backoff(BackoffPolicy(), clock, random)
        self._known: dict[_Name, str] = {}
        self._revision = ""
        """Where a watch goes on; empty: a list is due."""
        self._wanted = 0
        self._listed = LatestValue[int]()
        """Which wish for a list has been met."""
        self._waiting: asyncio.Timeout | None = None

    async def run(self) -> None:
        """Follow the kind until cancelled."""
        while True:
            try:
                await self._step()
            except RevisionGone:
                self._revision = ""
                await self._backoff.wait()
            except Unavailable as error:
                await self._pause(error)
            except JoinerError as error:
                self._revision = ""
                await self._pause(error)

    async def relist(self) -> None:
        """List anew, beginning now, and wait until the list is taken."""
        self._wanted += 1
        wish = self._wanted
        if self._waiting is not None:
            self._waiting.reschedule(self._clock.monotonic())
        version = 0
        while True:
            listed = await self._listed.newer_than(version)
            if listed.value >= wish:
                return
            version = listed.version

    async def _step(self) -> None:
        """List if that is due, else watch; a kind that is not installed is waited for."""
        if not self._revision:
            await self._take_list()
        if not self._revision:
            await self._until_wanted(self._clock.sleep(_ABSENT_RETRY * self._spread()))
        else:
            await self._until_wanted(self._watch())

    async def _take_list(self) -> None:
        wish = self._wanted
        revision, seen = await self._list()
        if self._lost_over_half(seen):
            logger.warning(
                "list lost over half of what it had",
                extra={"kind": self._resource.kind, "had": len(self._known), "has": len(seen)},
            )
            await self._clock.sleep(_CONFIRM_AFTER)
            revision, seen = await self._list()
        for name in [name for name in self._known if name not in seen]:
            self._remove(name, self._known[name])
        self._revision = revision
        self._listed.set(wish)
        self.synced.set()

    async def _list(self) -> tuple[str, set[_Name]]:
        """Tell everything that is there; return the revision, empty if not installed, and names."""
        seen: set[_Name] = set()
        query = {"limit": str(PAGE_SIZE)}
        try:
            while True:
                page = await self._page(query)
                seen.update(self._tell(page))
                if not page.metadata.continue_token:
                    return page.metadata.resource_version, seen
                query = {"limit": str(PAGE_SIZE), "continue": page.metadata.continue_token}
        except NotFound:
            return "", set()

    async def _page(self, query: Mapping[str, str]) -> "ObjectList[KubeObject]":
        data = await self._api.request("GET", self._resource.path(), query=query)
        return decode_list(data, self._struct)

    def _tell(self, page: "ObjectList[KubeObject]") -> Iterable[_Name]:
        for obj in page.items:
            yield self._upsert(obj)
        for broken in page.broken:
            yield self._set_aside(broken)

    def _lost_over_half(self, seen: set[_Name]) -> bool:
        kept = sum(name in seen for name in self._known)
        return 2 * kept < len(self._known)

    async def _watch(self) -> None:
        """Tell events until the watch ends; an end that came too soon is a failure."""
        began = self._clock.monotonic()
        query = {
            "resourceVersion": self._revision,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(_WATCH_SECONDS * self._spread())),
        }
        events = self._api.watch(self._resource.path(), query=query)
        async with contextlib.aclosing(events):
            async for line in events:
                self._take_event(line)
        if self._clock.monotonic() - began < _HEALTHY_AFTER.total_seconds():
            await self._backoff.wait()
        else:
            self._backoff.reset()

    def _take_event(self, line: bytes) -> None:
        event = decode_event(line, self._struct)
        self._backoff.reset()
        if event.broken is not None:
            self._take_broken(event.type, event.broken)
            return
        obj = event.object
        assert obj is not None
        if event.type == "DELETED":
            self._remove(_name(obj), obj.metadata.uid)
        elif event.type != "BOOKMARK":
            self._upsert(obj)
        self._revision = obj.metadata.resource_version or self._revision

    def _take_broken(self, type_: str, broken: BrokenObject) -> None:
        if type_ == "DELETED":
            name = (broken.namespace, broken.name)
            self._remove(name, self._known.get(name, ""))
        else:
            self._set_aside(broken)

    def _upsert(self, obj: KubeObject) -> _Name:
        name, uid = _name(obj), obj.metadata.uid
        before = self._known.get(name, uid)
        if before not in (uid, ""):
            self._remove(name, before)
        self._known[name] = uid
        self._sink.upsert(self._resource, obj)
        return name

    def _remove(self, name: _Name, uid: str) -> None:
        self._known.pop(name, None)
        self._sink.remove(self._resource, ObjectKey(*name, uid))

    def _set_aside(self, broken: BrokenObject) -> _Name:
        name = (broken.namespace, broken.name)
        self._known.setdefault(name, "")
        self._sink.set_aside(self._resource, broken)
        return name

    async def _until_wanted(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work`; give it up as soon as a list is wanted."""
        try:
            async with asyncio.timeout(None) as scope:
                self._waiting = scope
                if self._wanted > self._met():
                    scope.reschedule(self._clock.monotonic())
                await work
        except TimeoutError:
            if not scope.expired():
                raise
            self._revision = ""
        finally:
            self._waiting = None
            work.close()

    def _met(self) -> int:
        return self._listed.current.value if self._listed.current else 0

    async def _pause(self, error: JoinerError) -> None:
        wait = self._backoff.next_wait()
        if isinstance(error, Unavailable) and error.retry_after is not None:
            wait = max(wait, error.retry_after * self._spread())
        logger.warning(
            "cannot read kind",
            extra={"kind": self._resource.kind, "error": str(error)},
        )
        await self._clock.sleep(wait)

    def _spread(self) -> float:
        """Return between 1 and 2, so that informers that began together do not stay so."""
        return 1.0 + self._random.random()


def _name(obj: KubeObject) -> _Name:
    return obj.metadata.namespace, obj.metadata.name
