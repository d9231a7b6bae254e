"""gRPC edge: what is decided of the newest snapshot at the instant of the call."""

from typing import Any

import grpc
from joiner.disruption.v1 import disruption_pb2 as pb
from joiner.disruption.v1 import disruption_pb2_grpc

from libs.domain.errors import NotFound, NotReady
from libs.domain.execution import DecisionList
from libs.runtime.app import Runtime
from libs.snapshots.holder import SnapshotHolder
from libs.wire.disruption import encode_decision_list
from services.disruption.core.decide import decide
from services.disruption.core.question import Question
from services.disruption.record import CommandRecord


class DisruptionServicer(disruption_pb2_grpc.DisruptionServiceServicer):
    """Serves DisruptionService; every replica does, whether it leads or not."""

    def __init__(self, holder: SnapshotHolder, record: CommandRecord, runtime: Runtime) -> None:
        self._holder = holder
        self._record = record
        self._runtime = runtime

    async def ListDecisions(
        self,
        request: pb.ListDecisionsRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> pb.ListDecisionsResponse:
        """Answer with the verdict on the nodes asked for, and the latest commands."""
        try:
            snapshot = self._holder.latest(self._runtime.settings.cluster_id)
        except NotFound as error:
            raise NotReady(str(error)) from error
        now = self._runtime.clock.now()
        in_flight = self._record.in_flight(snapshot, now)
        question = Question(snapshot=snapshot, now=now, in_flight=in_flight)
        verdict = await self._runtime.compute(decide, question)
        wanted = frozenset(request.nodes)
        return encode_decision_list(
            DecisionList(
                snapshot=snapshot.id,
                decisions=tuple(
                    one for one in verdict.decisions if not wanted or one.node in wanted
                ),
                commands=self._record.latest(),
            )
        )
