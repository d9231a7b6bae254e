"""The one hand on the cluster, asked over gRPC."""

from collections.abc import AsyncIterator

import grpc
from joiner.lifecycle.v1 import lifecycle_pb2, lifecycle_pb2_grpc

from libs.clients.call import responses
from libs.domain.execution import (
    ApplyRequest,
    ApplyResult,
    CommandProgress,
    CommandRequest,
    DecisionReport,
    Eviction,
)
from libs.wire.execution import (
    decode_apply_result,
    decode_command_progress,
    decode_replacements,
    encode_apply_request,
    encode_command_request,
    encode_decision_report,
    encode_eviction,
)


class LifecycleClient:
    """Asks lifecycle to act.

    Every method raises NotReady (this replica does not lead, or is not synced), StaleRevision (the
    premise is gone: decide again), InvalidRequest, Forbidden, Unavailable.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = lifecycle_pb2_grpc.LifecycleServiceStub(channel)

    async def apply_plan(self, request: ApplyRequest) -> ApplyResult:
        """Create a plan's claims and publish the rest; a repeated plan gives the same answer."""
        return decode_apply_result(await self._stub.ApplyPlan(encode_apply_request(request)))

    async def execute_command(self, request: CommandRequest) -> tuple[str, ...]:
        """Start a command once; return the names of its replacements, in its order."""
        return decode_replacements(await self._stub.ExecuteCommand(encode_command_request(request)))

    async def watch_commands(self) -> AsyncIterator[CommandProgress]:
        """Yield the state of all commands under way, then every change."""
        call = self._stub.WatchCommands(lifecycle_pb2.WatchCommandsRequest())
        async for progress in responses(call, decode_command_progress):
            yield progress

    async def report_decisions(self, report: DecisionReport) -> None:
        """Have decisions about nodes published."""
        await self._stub.ReportDecisions(encode_decision_report(report))

    async def evict(self, eviction: Eviction) -> None:
        """Evict one pod.

        Raises:
            NotFound: it is gone, which is success.
            Unavailable: a budget refuses for now.
        """
        await self._stub.Evict(encode_eviction(eviction))
