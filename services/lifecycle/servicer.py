"""The gRPC edge: decode, call, encode."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
from joiner.lifecycle.v1 import lifecycle_pb2 as pb
from joiner.lifecycle.v1 import lifecycle_pb2_grpc

from libs.wire.execution import (
    decode_apply_request,
    decode_command_request,
    decode_decision_report,
    decode_eviction,
    encode_apply_result,
    encode_command_progress,
    encode_replacements,
)
from services.lifecycle.applying import PlanApplier
from services.lifecycle.evicting import Evictor
from services.lifecycle.executing import CommandExecutor
from services.lifecycle.publishing import Publisher
from services.lifecycle.queue import AdmissionQueue

_Context = grpc.aio.ServicerContext[Any, Any]


class LifecycleServicer(lifecycle_pb2_grpc.LifecycleServiceServicer):
    """Serves `joiner.lifecycle.v1.LifecycleService`."""

    def __init__(
        self,
        queue: AdmissionQueue,
        applier: PlanApplier,
        executor: CommandExecutor,
        publisher: Publisher,
        evictor: Evictor,
    ) -> None:
        self._queue = queue
        self._applier = applier
        self._executor = executor
        self._publisher = publisher
        self._evictor = evictor

    async def ApplyPlan(
        self, request: pb.ApplyPlanRequest, context: _Context
    ) -> pb.ApplyPlanResponse:
        """Carry out a plan."""
        return encode_apply_result(await self._applier.apply(decode_apply_request(request)))

    async def ExecuteCommand(
        self, request: pb.ExecuteCommandRequest, context: _Context
    ) -> pb.ExecuteCommandResponse:
        """Start a command."""
        return encode_replacements(await self._executor.execute(decode_command_request(request)))

    async def WatchCommands(
        self, request: pb.WatchCommandsRequest, context: _Context
    ) -> AsyncIterator[pb.WatchCommandsResponse]:
        """Stream the state of commands."""
        async for progress in self._executor.watch():
            yield encode_command_progress(progress)

    async def ReportDecisions(
        self, request: pb.ReportDecisionsRequest, context: _Context
    ) -> pb.ReportDecisionsResponse:
        """Publish decisions."""
        report = decode_decision_report(request)
        self._queue.check(report.snapshot)
        self._publisher.decisions(report)
        return pb.ReportDecisionsResponse()

    async def Evict(self, request: pb.EvictRequest, context: _Context) -> pb.EvictResponse:
        """Evict one pod."""
        await self._evictor.evict(decode_eviction(request))
        return pb.EvictResponse()
