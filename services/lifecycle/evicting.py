"""Evicts single pods for others, such as the updater of pod sizes."""

from libs.domain.errors import StaleRevision
from libs.domain.execution import Eviction
from services.lifecycle.access import Access
from services.lifecycle.core.admission import EvictPremise, refusal_to_evict
from services.lifecycle.core.step import Evict


class Evictor:
    """Answers Evict."""

    def __init__(self, access: Access) -> None:
        self._cache = access.cache
        self._writer = access.writer

    async def evict(self, eviction: Eviction) -> None:
        """Evict one pod.

        Raises:
            StaleRevision: another pod has the name now.
            NotFound: it is gone.
            Unavailable: a budget refuses for now.
        """
        pod = self._cache.pod_named(eviction.namespace, eviction.name)
        live_uid = pod.metadata.uid if pod is not None else None
        refusal = refusal_to_evict(EvictPremise(uid=eviction.uid, live_uid=live_uid))
        if refusal is not None:
            raise StaleRevision(f'pod "{eviction.namespace}/{eviction.name}": {refusal}')
        await self._writer.evict(
            Evict(
                namespace=eviction.namespace,
                name=eviction.name,
                uid=eviction.uid,
                node=pod.spec.node_name if pod is not None else "",
                reason=eviction.reason,
            )
        )
