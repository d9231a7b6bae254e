"""What lifecycle needs from outside, besides Kubernetes (`libs.kube.api.KubeApi`)."""

from typing import Protocol

from libs.domain.provider import (
    Capabilities,
    Instance,
    LaunchBatch,
    LaunchOutcome,
    NodeClass,
    ResolvedNodeClass,
)


class Provider(Protocol):
    """One cloud, asked by whoever may change it; every call may be repeated."""

    async def get_capabilities(self) -> Capabilities:
        """Return what the provider is."""

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Turn a class as the user wrote it into its status."""

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Free what resolving made; twice is success."""

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Launch one instance per claim; the same batch id gives the same instances."""

    async def delete(self, provider_id: str, *, nodeclaim: str = "") -> None:
        """Ask for an instance's end; raises NotFound once it is gone."""

    async def get(self, provider_id: str) -> Instance:
        """Read one instance; raises NotFound if it is gone."""

    async def list(self) -> tuple[Instance, ...]:
        """Read all instances of this cluster; complete or an error."""


class Permission(Protocol):
    """Whether this process may act on the cluster at this instant."""

    def require(self) -> None:
        """Return if a mutation may be started now; raises NotReady with the reason if not."""
