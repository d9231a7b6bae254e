"""Looks at NodePools and node classes."""

from dataclasses import replace
from datetime import timedelta

from libs.domain.errors import InvalidRequest
from libs.kube.convert.nodepool import nodepool_class
from libs.kube.objects.karpenter import NodeClass, NodePool
from services.lifecycle.access import Access
from services.lifecycle.adapters.cache import Cache
from services.lifecycle.adapters.providers import Providers, Served
from services.lifecycle.core import node_classes, pools
from services.lifecycle.core.node_classes import ClassView, domain_class
from services.lifecycle.core.pools import PoolView
from services.lifecycle.core.step import Ask
from services.lifecycle.loop import Key, TryAgainError

_MOST_ROUNDS = 10


class PoolReconciler:
    """Keeps hash, conditions and counters of pools."""

    def __init__(self, access: Access) -> None:
        self._cache = access.cache
        self._providers = access.providers
        self._writer = access.writer
        self._clock = access.clock

    async def look(self, key: Key) -> timedelta | None:
        """Do what is to be done for one pool and return when to look again."""
        for _ in range(_MOST_ROUNDS):
            pool = self._cache.pool(key.name)
            if pool is None:
                return None
            step = pools.next_step(self._view(pool))
            await self._writer.carry_out(step)
            if not step.writes:
                return step.check_after
        raise TryAgainError("the pool does not come to rest")

    def _view(self, pool: NodePool) -> PoolView:
        reference = nodepool_class(pool)
        return PoolView(
            pool=pool,
            node_class=class_of_pool(pool, self._cache, self._providers),
            rules=self._providers.rules(reference.group),
            claims=self._cache.claims_of(pool.metadata.name),
            now=self._clock.now(),
        )


class ClassReconciler:
    """Keeps status, hash and finalizer of node classes."""

    def __init__(self, access: Access) -> None:
        self._cache = access.cache
        self._providers = access.providers
        self._writer = access.writer
        self._clock = access.clock

    async def look(self, key: Key) -> timedelta | None:
        """Do what is to be done for one class and return when to look again."""
        served = self._providers.served(key.scope)
        answered = ClassView(
            node_class=NodeClass(), resource=served.resource, now=self._clock.now()
        )
        for _ in range(_MOST_ROUNDS):
            node_class = self._cache.node_class(served.resource, key.name)
            if node_class is None:
                return None
            view = replace(
                answered,
                node_class=node_class,
                claims=self._claims_of(node_class),
                now=self._clock.now(),
            )
            step = node_classes.next_step(view)
            if step.ask is not None:
                answered = await _answer(step.ask, view, served)
                continue
            await self._writer.carry_out(step)
            if not step.writes:
                return step.check_after
        raise TryAgainError("the node class does not come to rest")

    def _claims_of(self, node_class: NodeClass) -> int:
        reference = (node_class.group, node_class.metadata.name)
        return sum(
            (claim.spec.node_class_ref.group, claim.spec.node_class_ref.name) == reference
            for claim in self._cache.claims()
        )


async def _answer(ask: Ask, view: ClassView, served: Served) -> ClassView:
    node_class = domain_class(view.node_class)
    if ask is Ask.RESOLVE:
        return replace(view, resolved=await served.provider.resolve_node_class(node_class))
    await served.provider.release_node_class(node_class)
    return replace(view, released=True)


def class_of_pool(pool: NodePool, cache: Cache, providers: Providers) -> NodeClass | None:
    """Return the class of a pool, None if there is none.

    Raises:
        Unavailable: the provider of its group has not answered, so that nothing is known.
    """
    reference = nodepool_class(pool)
    try:
        served = providers.served(reference.group)
    except InvalidRequest:
        return None
    if reference.kind != served.resource.kind:
        return None
    return cache.node_class(served.resource, reference.name)
