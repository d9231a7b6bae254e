"""Keeps one sink at the newest snapshot: the pushing side of `snapshot/v1`.

One message is under way at a time and each, heartbeats too, is answered, so nothing ever queues up:
while a sink is slow the pusher skips revisions. A stream begins with a full snapshot; then come
changes of what the sink acknowledged last. Whatever goes wrong ends the stream, and the next one
begins anew: no state has to be repaired.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import grpc
from joiner.snapshot.v1 import snapshot_pb2

from libs.clients.outbox import SnapshotOutbox
from libs.domain.errors import JoinerError, StaleRevision, Unavailable
from libs.domain.snapshot import ClusterSnapshot, PushResult, SnapshotId
from libs.runtime.backoff import Backoff
from libs.runtime.clock import Clock
from libs.runtime.timeouts import deadline
from libs.wire.snapshot import decode_push_response, encode_push_request

logger = logging.getLogger(__name__)

_METHOD = "/joiner.snapshot.v1.SnapshotSinkService/PushSnapshots"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushPolicy:
    """How long a pusher waits for what."""

    heartbeat: timedelta = timedelta(seconds=10)
    """Longest silence: then the sink is told that nothing changed."""
    answer: timedelta = timedelta(seconds=30)
    """A sink that has not answered by then is taken for dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushState:
    """Where a sink stands, for metrics; counts only grow."""

    connected: bool = False
    """Whether a stream is open and its last message was answered."""
    acknowledged: SnapshotId | None = None
    """What the sink held last; None: nothing yet."""
    acknowledged_observed_at: datetime | None = None
    """The instant that it describes."""
    fulls: int = 0
    deltas: int = 0
    heartbeats: int = 0
    failures: int = 0
    """Streams that ended with an error."""


class SnapshotPusher:
    """Pushes to one sink until cancelled."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        outbox: SnapshotOutbox,
        *,
        clock: Clock,
        backoff: Backoff,
        policy: PushPolicy = PushPolicy(),  # immutable
        on_acknowledged: Callable[[SnapshotId], None] = lambda _: None,
    ) -> None:
        # Not the generated stub: messages are bytes already, shared with other pushers.
        self._open: Any = channel.stream_stream(
            _METHOD, None, snapshot_pb2.PushSnapshotsResponse.FromString
        )
        self._outbox = outbox
        self._clock = clock
        self._backoff = backoff
        self._policy = policy
        self._on_acknowledged = on_acknowledged
        self._complaint = ""
        self._state = PushState()

    @property
    def state(self) -> PushState:
        """Where the sink stands now."""
        return self._state

    def lag(self) -> timedelta | None:
        """Return how old the sink's view is: zero where it holds the newest, None without any."""
        newest, observed_at = self._outbox.newest, self._state.acknowledged_observed_at
        if newest is not None and newest.id == self._state.acknowledged:
            return timedelta(0)
        return None if observed_at is None else self._clock.now() - observed_at

    async def run(self) -> None:
        """Push, and connect again after every failure.

        Raises:
            StaleRevision: the sink has seen a later epoch; this process no longer leads.
        """
        while True:
            try:
                await self._push_until_it_fails()
            except StaleRevision:
                raise
            except JoinerError as error:
                self._note_failure(error)
            await self._backoff.wait()

    async def _push_until_it_fails(self) -> None:
        call = self._open()
        try:
            version, held = 0, None
            while True:
                newest = await self._newer_than(version)
                if newest is None:
                    held = held and await self._send_heartbeat(call, held)
                else:
                    version = newest.version
                    held = await self._send_update(call, held, newest.value)
                if held is None:
                    version = 0
        finally:
            call.cancel()
            self._state = replace(self._state, connected=False)

    async def _newer_than(self, version: int) -> Any:
        """Return the newest snapshot once there is one above `version`, None when a beat is due."""
        try:
            async with deadline(self._clock, self._policy.heartbeat):
                return await self._outbox.newer_than(version)
        except TimeoutError:
            return None

    async def _send_heartbeat(self, call: Any, held: ClusterSnapshot) -> ClusterSnapshot | None:
        message = encode_push_request(held.id).SerializeToString()
        result = await self._exchange(call, message, held.id)
        self._state = replace(self._state, heartbeats=self._state.heartbeats + 1)
        return held if result is PushResult.HELD else None

    async def _send_update(
        self, call: Any, held: ClusterSnapshot | None, target: ClusterSnapshot
    ) -> ClusterSnapshot | None:
        base = held if held is not None and _may_follow(target.id, held.id) else None
        message = await self._outbox.message(base, target)
        result = await self._exchange(call, message, target.id)
        if base is None:
            self._state = replace(self._state, fulls=self._state.fulls + 1)
        else:
            self._state = replace(self._state, deltas=self._state.deltas + 1)
        if result is PushResult.HELD:
            self._note_success(target)
            return target
        if base is None:
            raise Unavailable("the sink asks for a full snapshot though it was sent one")
        return None

    async def _exchange(self, call: Any, message: bytes, about: SnapshotId) -> PushResult:
        try:
            async with deadline(self._clock, self._policy.answer):
                await call.write(message)
                answer = await call.read()
        except TimeoutError:
            raise Unavailable("the sink does not answer") from None
        if answer is grpc.aio.EOF:
            raise Unavailable("the sink ended the stream")
        _, result = decode_push_response(answer)
        if result is PushResult.SUPERSEDED:
            raise StaleRevision(
                f"{about.cluster_id}: a pusher after {about.epoch.lease_transitions} lease "
                "transitions is superseded"
            )
        return result

    def _note_success(self, held: ClusterSnapshot) -> None:
        self._backoff.reset()
        self._complaint = ""
        self._state = replace(
            self._state,
            connected=True,
            acknowledged=held.id,
            acknowledged_observed_at=held.observed_at,
        )
        self._on_acknowledged(held.id)

    def _note_failure(self, error: JoinerError) -> None:
        self._state = replace(self._state, failures=self._state.failures + 1)
        if str(error) != self._complaint:
            self._complaint = str(error)
            logger.warning("lost a snapshot sink", extra={"error": str(error)})


def _may_follow(target: SnapshotId, held: SnapshotId) -> bool:
    return (
        target.cluster_id == held.cluster_id
        and target.epoch == held.epoch
        and target.revision > held.revision
    )
