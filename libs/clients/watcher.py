"""The watcher's snapshots, asked over gRPC."""

import grpc
from joiner.watcher.v1 import watcher_pb2, watcher_pb2_grpc

from libs.domain.question import SolveQuestion
from libs.wire.watcher import decode_recorded_question


class WatcherClient:
    """Asks the watcher what it sees and saw."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = watcher_pb2_grpc.WatcherServiceStub(channel)

    async def get_snapshot(self, plan_id: str = "") -> SolveQuestion:
        """Return the newest snapshot, or the question that a plan answered, ready to be replayed.

        Raises:
            NotReady: not synced yet.
            RevisionGone: that decision is not kept any more.
        """
        request = watcher_pb2.GetSnapshotRequest(plan_id=plan_id)
        return decode_recorded_question(await self._stub.GetSnapshot(request))
