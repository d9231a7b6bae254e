"""gRPC edge: snapshots for people, the console and replays."""

import asyncio
from typing import Any

import grpc
from joiner.watcher.v1 import watcher_pb2 as pb
from joiner.watcher.v1 import watcher_pb2_grpc

from libs.clients.outbox import SnapshotOutbox
from libs.domain.errors import NotReady
from libs.wire.watcher import encode_recorded_question
from services.watcher.journal import Journal


class WatcherServicer(watcher_pb2_grpc.WatcherServiceServicer):
    """Serves WatcherService."""

    def __init__(self, outbox: SnapshotOutbox, journal: Journal) -> None:
        self._outbox = outbox
        self._journal = journal

    async def GetSnapshot(
        self, request: pb.GetSnapshotRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetSnapshotResponse:
        """Return the newest snapshot, or what a plan was made from."""
        if request.plan_id:
            decision = self._journal.find(request.plan_id)
            return await asyncio.to_thread(
                encode_recorded_question, decision.snapshot, decision.options
            )
        newest = self._outbox.newest
        if newest is None:
            raise NotReady("this watcher has published no snapshot; it does not lead yet")
        return await asyncio.to_thread(encode_recorded_question, newest, None)
