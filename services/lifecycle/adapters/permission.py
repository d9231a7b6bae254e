"""Whether this process may act: it leads, and no live Karpenter holds its own lease.

The guard stands in the doors to Kubernetes and to the clouds, so that nobody can forget it: every
mutation passes it at the instant it is sent.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from datetime import timedelta

from libs.domain.errors import JoinerError, NotReady
from libs.domain.provider import (
    Capabilities,
    Instance,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ResolvedNodeClass,
)
from libs.kube.api import JSON, KubeApi
from libs.kube.leases import KARPENTER_LEASE, fresh_lease
from libs.runtime.clock import Clock
from libs.runtime.leader import Leadership
from services.lifecycle.ports import Permission, Provider

logger = logging.getLogger(__name__)

LOOK_AGAIN = timedelta(seconds=5)

_UNSEEN = "it is not known yet whether another autoscaler runs"


class LeaderPermission:
    """Permission of the leader while no rival is alive; `watch_rival` is a root task."""

    def __init__(self, leadership: Leadership, api: KubeApi, clock: Clock) -> None:
        self._leadership = leadership
        self._api = api
        self._clock = clock
        self._obstacle = _UNSEEN

    def require(self) -> None:
        """Return if a mutation may be started now.

        Raises:
            NotReady: this process does not lead, or the lease named is held by a live Karpenter.
        """
        self._leadership.require_leadership()
        if self._obstacle:
            raise NotReady(self._obstacle)

    async def watch_rival(self) -> None:
        """Look for a live Karpenter's lease, for ever; a look that fails changes nothing."""
        while True:
            try:
                await self._look()
            except JoinerError as error:
                logger.warning("cannot look for a rival", extra={"error": str(error)})
            await self._clock.sleep(LOOK_AGAIN)

    async def _look(self) -> None:
        held = await fresh_lease(self._api, KARPENTER_LEASE, self._clock.now())
        obstacle = f'a live Karpenter holds the lease "{held}"; stop it first' if held else ""
        if obstacle != self._obstacle:
            logger.info("rival looked for", extra={"lease": held or "none"})
        self._obstacle = obstacle


class GuardedKubeApi:
    """The port to Kubernetes; nothing but reads passes without permission."""

    def __init__(self, api: KubeApi, permission: Permission) -> None:
        self._api = api
        self._permission = permission

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Pass on one request."""
        if method != "GET":
            self._permission.require()
        return await self._api.request(
            method, path, query=query, body=body, content_type=content_type
        )

    def watch(self, path: str, *, query: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
        """Pass on a watch."""
        return self._api.watch(path, query=query)


class GuardedProvider:
    """A cloud; what changes it does not pass without permission."""

    def __init__(self, provider: Provider, permission: Permission) -> None:
        self._provider = provider
        self._permission = permission

    async def get_capabilities(self) -> Capabilities:
        """Pass on."""
        return await self._provider.get_capabilities()

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Pass on with permission: resolving may make networks and profiles."""
        self._permission.require()
        return await self._provider.resolve_node_class(node_class)

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Pass on with permission."""
        self._permission.require()
        await self._provider.release_node_class(node_class)

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Pass on with permission."""
        self._permission.require()
        return await self._provider.create(batch)

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        """Pass on with permission."""
        self._permission.require()
        await self._provider.delete(provider_id, nodeclaim=nodeclaim)

    async def get(self, provider_id: str) -> Instance:
        """Pass on."""
        return await self._provider.get(provider_id)

    async def list(self) -> tuple[Instance, ...]:
        """Pass on."""
        return await self._provider.list()
