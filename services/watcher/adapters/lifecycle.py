"""Lifecycle, whichever of its replicas leads."""

from libs.clients.leading import Leading
from libs.clients.lifecycle import LifecycleClient
from libs.domain.execution import ApplyRequest, ApplyResult
from libs.runtime.network import Network


class LeadingLifecycle:
    """The port `Lifecycle` over gRPC."""

    def __init__(self, address: str, network: Network) -> None:
        self._leading = Leading(address, network, LifecycleClient)

    async def apply_plan(self, request: ApplyRequest) -> ApplyResult:
        """Forward; names of claims derive from the plan, so that several replicas may be asked."""
        return await self._leading.ask(lambda client: client.apply_plan(request))
