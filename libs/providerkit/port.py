"""`CloudProvider`: one cloud, as the rest of Joiner sees it.

Laws of every implementation; the conformance kit tests each against a running provider: 1. Any
call may be repeated; `create` with the same batch id gives the same instances, and the n-th
instance belongs to the n-th claim by name. 2. Every claim of a batch gets an outcome of its own;
one that fails does not stop the others. 3. `list` is complete or fails; it may lag behind `create`
and `delete`. 4. `delete`, `get` and `is_drifted` raise NotFound for an instance that is gone. For
`delete` that is success; before, it means "accepted", and is called again. 5. Equal etags mean
equal instance types; a typed capacity error changes the etag before `create` answers. 6. Types
that cannot be had now are listed all the same, their offerings marked unavailable. 7. An event is
repeated until it is acknowledged.
"""

from collections.abc import AsyncIterator
from typing import Protocol

from libs.domain.provider import (
    Capabilities,
    Instance,
    InstanceTypeListing,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ProviderEvent,
    ResolvedNodeClass,
)


class CloudProvider(Protocol):
    """One cloud. Every method may raise InvalidRequest, Unavailable and NotReady."""

    def capabilities(self) -> Capabilities:
        """Return what this provider is; never changes while the process lives."""

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Return the status that the class should have; the same class gives the same hash."""

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Free what resolving made in the cloud; releasing twice is success."""

    async def list_instance_types(
        self, node_class: NodeClass, if_none_match: str
    ) -> InstanceTypeListing:
        """Return all types of the class, or that the caller's etag still is the right one."""

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Launch one instance per claim; outcomes sorted by claim."""

    async def delete(self, provider_id: str, nodeclaim: str) -> None:
        """Ask for an instance's end; `nodeclaim` is empty for a leaked one."""

    async def get(self, provider_id: str) -> Instance:
        """Return one instance."""

    async def list(self) -> tuple[Instance, ...]:
        """Return all instances of this cluster, sorted by provider id."""

    async def is_drifted(self, provider_id: str, node_class: NodeClass, launch_hash: str) -> str:
        """Return a CamelCase reason, or nothing where the instance is what its class describes."""

    def watch_events(
        self, acknowledged: AsyncIterator[tuple[str, ...]]
    ) -> AsyncIterator[ProviderEvent]:
        """Stream what the cloud is about to do; raise Unsupported if it gives no notice."""
