"""Keeps the catalogues: asks each provider what it offers for each node class that is referred to.

Laws:
- A provider that is down keeps its last catalogue, whose age tells; the other providers go on. It
  is asked again within half a second, so that one that starts is not waited for.
- A catalogue that did not change is not sent again: its etag says so, and the instant at which it
  was last heard moves on in steps.
- A class that changed, and one of which a claim failed to launch, is asked about at once; whoever
  is about to decide waits for that (`settle`), but not long.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from libs.cluster.state import ClusterState
from libs.domain.capacity import Catalogue, NodeClassRef
from libs.domain.errors import JoinerError, Unavailable
from libs.domain.provider import Capabilities, InstanceTypeListing, NodeClass
from libs.kube.api import KubeApi, Resource
from libs.kube.informer import Informer, ObjectKey, Sink
from libs.kube.objects import karpenter
from libs.kube.objects.decoding import BrokenObject
from libs.kube.objects.kinds import KubeObject
from libs.runtime.backoff import Backoff, BackoffPolicy
from libs.runtime.clock import Clock
from libs.runtime.latest import LatestValue
from libs.runtime.randomness import Random
from libs.runtime.timeouts import deadline
from services.watcher.metrics import Metrics
from services.watcher.ports import InstanceTypes

logger = logging.getLogger(__name__)

REFRESH = timedelta(seconds=60)

_HEARD_STEP = timedelta(minutes=5)
"""How far behind the instant of the last answer may stay: a third of what the solver tolerates.
Moving it sends the whole catalogue again."""

_KNOCKING = BackoffPolicy(cap=timedelta(milliseconds=500))
"""Between questions to a provider that is away."""

_LISTING = BackoffPolicy(first=timedelta(seconds=1), cap=timedelta(seconds=30))
"""Between questions to a provider that is there but whose cloud does not answer."""

_SETTLE_WITHIN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every follower of a provider works with."""

    api: KubeApi
    state: ClusterState
    feed: Sink
    changes: LatestValue[None]
    clock: Clock
    random: Random
    metrics: Metrics


class ProviderFollower:
    """Follows one provider: its capabilities, the objects of its node classes, its catalogues."""

    def __init__(self, group: str, provider: InstanceTypes, around: Surroundings) -> None:
        self._group = group
        self._provider = provider
        self._around = around
        self._knocking = Backoff(_KNOCKING, around.clock, around.random)
        self._listing = Backoff(_LISTING, around.clock, around.random)
        self._complaint = ""
        self._classes: dict[str, NodeClass] = {}
        self._catalogues: dict[str, Catalogue] = {}
        self._heard: dict[str, datetime] = {}
        self._referred: frozenset[str] = frozenset()
        self._wanted = 1
        self._looked: LatestValue[int] = LatestValue()
        """Which wish for a look has been met, successfully or not."""
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Follow until cancelled."""
        capabilities = await self._introduction()
        self._around.state.restrict_domains(self._group, capabilities.restricted_domains)
        resource = node_class_resource(capabilities)
        around = self._around
        sink = _ClassSink(around.feed, self._note_class, self._forget_class)
        informer = Informer(around.api, resource, sink, around.clock, around.random)
        async with asyncio.TaskGroup() as group:
            group.create_task(informer.run(), name=f"informer {resource.plural}")
            group.create_task(self._refresh(informer), name=f"catalogues of {self._group}")

    def want(self) -> None:
        """Look at all catalogues soon."""
        self._wanted += 1
        self._wake.set()

    def note_references(self) -> None:
        """Look if other classes are referred to than at the last look."""
        if frozenset(self._references()) != self._referred:
            self.want()

    async def settle(self) -> None:
        """Wait until every look that is wanted now has been taken."""
        wish, version = self._wanted, 0
        while True:
            looked = await self._looked.newer_than(version)
            if looked.value >= wish:
                return
            version = looked.version

    async def _introduction(self) -> Capabilities:
        while True:
            try:
                return await self._provider.get_capabilities()
            except JoinerError as error:
                self._complain(error)
                self._looked.set(self._wanted)
                await self._knocking.wait()

    async def _refresh(self, informer: Informer) -> None:
        await informer.synced.wait()
        while True:
            self._wake.clear()
            wish = self._wanted
            again = await self._look()
            self._looked.set(wish)
            try:
                async with deadline(self._around.clock, again):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _look(self) -> timedelta:
        """Take all catalogues that are referred to and return when to look again."""
        referred = self._references()
        self._referred = frozenset(referred)
        for key in [key for key in self._catalogues if key not in referred]:
            self._drop(key)
        try:
            capabilities = await self._provider.get_capabilities()
        except JoinerError as error:
            self._complain(error)
            return self._knocking.next_wait()
        self._knocking.reset()
        self._complaint = ""
        known = [self._classes[key] for key in referred if key in self._classes]
        async with asyncio.TaskGroup() as group:
            lists = [
                group.create_task(self._list(one, capabilities), name=f"list {one.ref.key}")
                for one in known
            ]
        if not all(one.result() for one in lists):
            return self._listing.next_wait()
        self._listing.reset()
        return REFRESH

    def _complain(self, error: JoinerError) -> None:
        """Say once why the provider does not answer."""
        if str(error) != self._complaint:
            self._complaint = str(error)
            logger.warning(
                "provider does not answer; its last catalogues are kept",
                extra={"group": self._group, "error": self._complaint},
            )

    async def _list(self, node_class: NodeClass, capabilities: Capabilities) -> bool:
        """Take the catalogue of one class; where there is none now, the last one is kept.

        Returns:
            Whether there was an answer; a refusal is one.
        """
        known = self._catalogues.get(node_class.ref.key)
        etag = known.etag if known else ""
        try:
            listing = await self._provider.list_instance_types(node_class, if_none_match=etag)
        except JoinerError as error:
            logger.warning(
                "kept the last catalogue of a node class",
                extra={"node_class": node_class.ref.key, "error": str(error)},
            )
            return not isinstance(error, Unavailable)
        self._take(node_class.ref, listing, capabilities)
        return True

    def _take(
        self, ref: NodeClassRef, listing: InstanceTypeListing, capabilities: Capabilities
    ) -> None:
        now = self._around.clock.now()
        self._heard[ref.key] = now
        self._around.metrics.catalogue_age.labels(ref.key).set_function(lambda: self._age(ref.key))
        known = self._catalogues.get(ref.key)
        if listing.not_modified and known is not None:
            if now - known.observed_at >= _HEARD_STEP:
                self._put(replace(known, observed_at=now))
            return
        self._put(
            Catalogue(
                node_class=ref,
                etag=listing.etag,
                observed_at=now,
                instance_types=listing.instance_types,
                well_known_keys=capabilities.well_known_keys,
            )
        )

    def _put(self, catalogue: Catalogue) -> None:
        self._catalogues[catalogue.key] = catalogue
        self._around.state.set_catalogue(catalogue)
        self._around.changes.set(None)

    def _drop(self, key: str) -> None:
        del self._catalogues[key]
        self._heard.pop(key, None)
        self._around.metrics.catalogue_age.remove(key)
        self._around.state.remove_catalogue(key)
        self._around.changes.set(None)

    def _age(self, key: str) -> float:
        heard = self._heard.get(key)
        return 0.0 if heard is None else (self._around.clock.now() - heard).total_seconds()

    def _references(self) -> list[str]:
        return [one.key for one in self._around.state.node_classes() if one.group == self._group]

    def _note_class(self, node_class: NodeClass) -> None:
        if self._classes.get(node_class.ref.key) != node_class:
            self._classes[node_class.ref.key] = node_class
            self.want()

    def _forget_class(self, kind: str, name: str) -> None:
        key = NodeClassRef(group=self._group, kind=kind, name=name).key
        self._classes.pop(key, None)


class Providers:
    """All providers, by group of node classes."""

    def __init__(self, followers: Mapping[str, ProviderFollower], clock: Clock) -> None:
        self._followers = followers
        self._clock = clock

    async def run(self) -> None:
        """Follow all until cancelled."""
        async with asyncio.TaskGroup() as group:
            for name, follower in self._followers.items():
                group.create_task(follower.run(), name=f"provider of {name}")
            await asyncio.Event().wait()

    def pools_changed(self) -> None:
        """Look where other classes are referred to than before."""
        for follower in self._followers.values():
            follower.note_references()

    def launch_failed(self, key: str) -> None:
        """Look again at what the provider of a node class offers."""
        follower = self._followers.get(key.partition("/")[0])
        if follower is not None:
            follower.want()

    async def settle(self) -> None:
        """Wait, not long, until every look that is due has been taken."""
        waiting: Iterable[ProviderFollower] = self._followers.values()
        try:
            async with deadline(self._clock, _SETTLE_WITHIN):
                for follower in waiting:
                    await follower.settle()
        except TimeoutError:
            logger.warning("decided without waiting for a provider any longer")


class _ClassSink:
    """Completes node classes, whose type is not told in every list, and passes them on."""

    def __init__(
        self,
        feed: Sink,
        note: Callable[[NodeClass], None],
        forget: Callable[[str, str], None],
    ) -> None:
        self._feed = feed
        self._note = note
        self._forget = forget

    def upsert(self, resource: Resource, obj: KubeObject) -> None:
        assert isinstance(obj, karpenter.NodeClass)
        whole = msgspec.structs.replace(obj, api_version=resource.api_version, kind=resource.kind)
        self._feed.upsert(resource, whole)
        self._note(_node_class(whole))

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        self._feed.remove(resource, key)
        self._forget(resource.kind, key.name)

    def set_aside(self, resource: Resource, broken: BrokenObject) -> None:
        self._feed.set_aside(resource, broken)


def node_class_resource(capabilities: Capabilities) -> Resource:
    """Return where the provider's node classes live: plurals are those of English."""
    return Resource(
        group=capabilities.group,
        version=capabilities.versions[0] if capabilities.versions else "v1",
        kind=capabilities.kind,
        plural=f"{capabilities.kind.lower()}es",
    )


def _node_class(obj: karpenter.NodeClass) -> NodeClass:
    return NodeClass(
        ref=NodeClassRef(group=obj.group, kind=obj.kind, name=obj.metadata.name),
        uid=obj.metadata.uid,
        generation=obj.metadata.generation,
        spec=obj.spec,
        status=obj.status,
    )
