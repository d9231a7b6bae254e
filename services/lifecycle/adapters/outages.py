"""`WatchedProvider`: a cloud that tells when a call found nobody there."""

import contextlib
from collections.abc import Callable, Iterator

from libs.domain.errors import Unavailable
from libs.domain.provider import (
    Capabilities,
    Instance,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ResolvedNodeClass,
)
from services.lifecycle.ports import Provider


class WatchedProvider:
    """Passes every call on; `on_unavailable` is called whenever one was not answered."""

    def __init__(self, provider: Provider, on_unavailable: Callable[[], None]) -> None:
        self._provider = provider
        self._on_unavailable = on_unavailable

    async def get_capabilities(self) -> Capabilities:
        """Pass on."""
        with self._watched():
            return await self._provider.get_capabilities()

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Pass on."""
        with self._watched():
            return await self._provider.resolve_node_class(node_class)

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Pass on."""
        with self._watched():
            await self._provider.release_node_class(node_class)

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Pass on."""
        with self._watched():
            return await self._provider.create(batch)

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        """Pass on."""
        with self._watched():
            await self._provider.delete(provider_id, nodeclaim=nodeclaim)

    async def get(self, provider_id: str) -> Instance:
        """Pass on."""
        with self._watched():
            return await self._provider.get(provider_id)

    async def list(self) -> tuple[Instance, ...]:
        """Pass on."""
        with self._watched():
            return await self._provider.list()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (Unavailable, TimeoutError):
            self._on_unavailable()
            raise
