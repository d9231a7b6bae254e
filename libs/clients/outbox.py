"""The snapshot that pushers are to deliver, and its messages, each made once for all of them."""

import asyncio

from libs.domain.snapshot import ClusterSnapshot, SnapshotId, delta, full
from libs.runtime.latest import LatestValue, Versioned
from libs.wire.snapshot import encode_push_request


class SnapshotOutbox:
    """Holds the newest snapshot; slow readers skip revisions."""

    def __init__(self) -> None:
        self._latest: LatestValue[ClusterSnapshot] = LatestValue()
        self._messages: dict[tuple[SnapshotId | None, SnapshotId], bytes] = {}
        self._encoding = asyncio.Lock()

    @property
    def newest(self) -> ClusterSnapshot | None:
        """The snapshot to be delivered, None before the first."""
        current = self._latest.current
        return None if current is None else current.value

    def put(self, snapshot: ClusterSnapshot) -> None:
        """Replace the snapshot and wake every pusher."""
        self._latest.set(snapshot)

    async def newer_than(self, version: int) -> Versioned[ClusterSnapshot]:
        """Wait for a version above `version`; versions count the calls of `put`."""
        return await self._latest.newer_than(version)

    async def message(self, base: ClusterSnapshot | None, target: ClusterSnapshot) -> bytes:
        """Return the request that makes `target` out of `base`, or of nothing, as bytes.

        Made off the event loop, kept until another target is asked for.
        """
        key = (None if base is None else base.id, target.id)
        async with self._encoding:  # two pushers that want the same wait for one piece of work
            if key not in self._messages:
                encoded = await asyncio.to_thread(_encode, base, target)
                kept = {old: made for old, made in self._messages.items() if old[1] == target.id}
                self._messages = {**kept, key: encoded}
            return self._messages[key]


def _encode(base: ClusterSnapshot | None, target: ClusterSnapshot) -> bytes:
    update = full(target) if base is None else delta(base, target)
    return encode_push_request(update).SerializeToString()
