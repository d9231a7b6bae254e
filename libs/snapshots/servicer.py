"""gRPC edge of the holder: decode, take in, acknowledge; every message is answered, in order."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from joiner.snapshot.v1 import snapshot_pb2 as pb
from joiner.snapshot.v1 import snapshot_pb2_grpc

from libs.domain.snapshot import PushResult, SnapshotId
from libs.runtime.authorization import caller
from libs.snapshots.holder import SnapshotHolder
from libs.wire.snapshot import decode_push_request, encode_push_response


class SnapshotSinkServicer(snapshot_pb2_grpc.SnapshotSinkServiceServicer):
    """Serves SnapshotSinkService."""

    def __init__(self, holder: SnapshotHolder) -> None:
        self._holder = holder

    async def PushSnapshots(
        self,
        request_iterator: AsyncIterator[pb.PushSnapshotsRequest],
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncIterator[pb.PushSnapshotsResponse]:
        """Keep what is pushed until the pusher leaves or is superseded."""
        async for request in request_iterator:
            content = await asyncio.to_thread(decode_push_request, request)
            if isinstance(content, SnapshotId):
                about, result = content, self._holder.hear(caller(), content)
            else:
                about = content.id
                result = await self._holder.accept(caller(), content, request.ByteSize())
            yield encode_push_response(about, result)
            if result is PushResult.SUPERSEDED:
                return
