"""Measure any provider: a decorator of the port with Karpenter's two series.

Source: `karpenter_cloudprovider_*` in Karpenter's metrics reference.
"""

from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram

from libs.domain.errors import JoinerError, NotFound, NotReady
from libs.domain.provider import (
    Capabilities,
    Instance,
    InstanceTypeListing,
    LaunchBatch,
    LaunchFailure,
    LaunchFailureKind,
    LaunchOutcome,
    NodeClass,
    ProviderEvent,
    ResolvedNodeClass,
)
from libs.providerkit.port import CloudProvider
from libs.runtime.clock import Clock

T = TypeVar("T")

_LABELS = ("controller", "method", "provider")
_CONTROLLER = "provider"
_FAILURES = {
    LaunchFailureKind.INSUFFICIENT_CAPACITY: "InsufficientCapacityError",
    LaunchFailureKind.NODE_CLASS_NOT_READY: "NodeClassNotReadyError",
}


class MeasuredProvider:
    """Forwards every call and records how long it took and what it ended with."""

    def __init__(self, provider: CloudProvider, clock: Clock, registry: CollectorRegistry) -> None:
        self._provider = provider
        self._clock = clock
        self._name = provider.capabilities().name
        self._duration = Histogram(
            "karpenter_cloudprovider_duration_seconds",
            "Duration of cloud provider calls. Labeled by controller, method and provider.",
            _LABELS,
            registry=registry,
        )
        self._errors = Counter(
            "karpenter_cloudprovider_errors_total",
            "Failed cloud provider calls. Labeled by controller, method, provider and error.",
            (*_LABELS, "error"),
            registry=registry,
        )

    def capabilities(self) -> Capabilities:
        """Forward."""
        return self._provider.capabilities()

    async def resolve_node_class(self, node_class: NodeClass) -> ResolvedNodeClass:
        """Forward and measure."""
        return await self._measured(
            "ResolveNodeClass", self._provider.resolve_node_class(node_class)
        )

    async def release_node_class(self, node_class: NodeClass) -> None:
        """Forward and measure."""
        await self._measured("ReleaseNodeClass", self._provider.release_node_class(node_class))

    async def list_instance_types(
        self, node_class: NodeClass, if_none_match: str
    ) -> InstanceTypeListing:
        """Forward and measure."""
        return await self._measured(
            "GetInstanceTypes", self._provider.list_instance_types(node_class, if_none_match)
        )

    async def create(self, batch: LaunchBatch) -> tuple[LaunchOutcome, ...]:
        """Forward and measure; each claim that was not launched counts as an error."""
        outcomes = await self._measured("Create", self._provider.create(batch))
        for outcome in outcomes:
            if isinstance(outcome.result, LaunchFailure):
                self._failed("Create", _FAILURES.get(outcome.result.kind, ""))
        return outcomes

    async def delete(self, provider_id: str, nodeclaim: str) -> None:
        """Forward and measure."""
        await self._measured("Delete", self._provider.delete(provider_id, nodeclaim))

    async def get(self, provider_id: str) -> Instance:
        """Forward and measure."""
        return await self._measured("Get", self._provider.get(provider_id))

    async def list(self) -> tuple[Instance, ...]:
        """Forward and measure."""
        return await self._measured("List", self._provider.list())

    async def is_drifted(self, provider_id: str, node_class: NodeClass, launch_hash: str) -> str:
        """Forward and measure."""
        return await self._measured(
            "IsDrifted", self._provider.is_drifted(provider_id, node_class, launch_hash)
        )

    def watch_events(
        self, acknowledged: AsyncIterator[tuple[str, ...]]
    ) -> AsyncIterator[ProviderEvent]:
        """Forward; a stream has no duration worth recording."""
        return self._provider.watch_events(acknowledged)

    async def _measured(self, method: str, call: Awaitable[T]) -> T:
        started = self._clock.monotonic()
        try:
            return await call
        except JoinerError as error:
            self._failed(method, _error_label(error))
            raise
        finally:
            self._duration.labels(_CONTROLLER, method, self._name).observe(
                self._clock.monotonic() - started
            )

    def _failed(self, method: str, error: str) -> None:
        self._errors.labels(_CONTROLLER, method, self._name, error).inc()


def _error_label(error: JoinerError) -> str:
    match error:
        case NotFound():
            return "NodeClaimNotFoundError"
        case NotReady():
            return "NodeClassNotReadyError"
        case _:
            return ""
