"""Lifecycle, whichever of its replicas leads."""

from libs.clients.leading import Leading
from libs.clients.lifecycle import LifecycleClient
from libs.domain.execution import CommandRequest, DecisionReport
from libs.runtime.network import Network


class LeadingLifecycle:
    """The port `Lifecycle` over gRPC."""

    def __init__(self, address: str, network: Network) -> None:
        self._leading = Leading(address, network, LifecycleClient)

    async def execute_command(self, request: CommandRequest) -> tuple[str, ...]:
        """Forward."""
        return await self._leading.ask(lambda client: client.execute_command(request))

    async def report_decisions(self, report: DecisionReport) -> None:
        """Forward."""
        await self._leading.ask(lambda client: client.report_decisions(report))
