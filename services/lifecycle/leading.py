"""What the leader does: reads the cluster anew, opens admission, looks at everything until it ends.

Apart from `app.py`, which only wires: a term begins and ends here.
"""

import asyncio
from datetime import timedelta

from libs.kube.api import NODE_CLAIMS, NODE_POOLS, NODES
from libs.kube.informer import Informers
from libs.runtime.app import Runtime
from services.lifecycle.access import Access
from services.lifecycle.claims import ClaimReconciler, OrphanReconciler
from services.lifecycle.collecting import Collector
from services.lifecycle.commands import CommandReconciler
from services.lifecycle.launching import Launcher
from services.lifecycle.loop import Key, Kind, Look, WorkQueue
from services.lifecycle.pools import ClassReconciler, PoolReconciler
from services.lifecycle.queue import AdmissionQueue
from services.lifecycle.routing import Router

_READ_ANEW = (NODE_CLAIMS, NODE_POOLS, NODES)


class Leading:
    """The leader's work."""

    def __init__(
        self,
        access: Access,
        router: Router,
        admission: AdmissionQueue,
        commands: CommandReconciler,
        informers: Informers,
        runtime: Runtime,
    ) -> None:
        self._access = access
        self._router = router
        self._admission = admission
        self._informers = informers
        self._launcher = Launcher(access, runtime.new_id)
        self._collector = Collector(access)
        self._claims = ClaimReconciler(access, self._launcher)
        self._looks: dict[Kind, Look] = {
            Kind.CLAIM: self._claims.look,
            Kind.NODE: OrphanReconciler(access).look,
            Kind.POOL: PoolReconciler(access).look,
            Kind.NODE_CLASS: ClassReconciler(access).look,
            Kind.COMMAND: commands.look,
        }
        self._queue = WorkQueue(self._look, runtime.clock, runtime.random, access.metrics)

    async def lead(self) -> None:
        """Act as the leader until cancelled."""
        await self._informers.wait_synced()
        for resource in _READ_ANEW:
            await self._informers.relist(resource)
        self._router.begin(self._access.cache, self._queue.add, self._claims.pod_changed)
        self.look_at_classes()
        self._admission.open(self._access.clock.monotonic())
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._launcher.run(), name="launcher")
                group.create_task(self._queue.run(), name="work queue")
                group.create_task(self._collector.run(), name="garbage collector")
        finally:
            self._admission.close()
            self._router.end()

    def provider_answered(self, group: str) -> None:
        """Have whatever waited for a provider looked at now, if this process leads."""
        self._claims.try_launches_again(group)
        self.look_at_classes()

    def look_at_classes(self) -> None:
        """Have all node classes, and what hangs on them, looked at; if this process leads."""
        cache = self._access.cache
        for served in self._access.providers.all_served():
            for node_class in cache.node_classes(served.resource):
                key = Key(Kind.NODE_CLASS, node_class.metadata.name, served.resource.group)
                self._router.enqueue(key)
        for pool in cache.pools():
            self._router.enqueue(Key(Kind.POOL, pool.metadata.name))
        for claim in cache.claims():
            self._router.enqueue(Key(Kind.CLAIM, claim.metadata.name))

    async def _look(self, key: Key) -> timedelta | None:
        return await self._looks[key.kind](key)
