"""Disruption's decisions, asked over gRPC."""

from collections.abc import Sequence

import grpc
from joiner.disruption.v1 import disruption_pb2, disruption_pb2_grpc

from libs.domain.execution import DecisionList
from libs.wire.disruption import decode_decision_list


class DisruptionClient:
    """Asks disruption what it thinks."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = disruption_pb2_grpc.DisruptionServiceStub(channel)

    async def list_decisions(self, nodes: Sequence[str] = ()) -> DecisionList:
        """Return verdicts on the named nodes, or on all, and the latest commands.

        Raises:
            NotReady: it holds no snapshot yet.
        """
        request = disruption_pb2.ListDecisionsRequest(nodes=nodes)
        return decode_decision_list(await self._stub.ListDecisions(request))
