"""What both ends of an in-memory call share: bytes in two directions, and one end.

The exchange carries bytes, as a socket would, and ends once, with the first status that either side
gives it. Streams hold a few messages in each direction; then the writer waits.
"""

import asyncio
import collections
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import grpc

from libs.runtime.errors import Status

_HELD_MESSAGES = 16  # about what HTTP/2's initial window of 64 KiB holds of our smaller messages

CANCELLED = Status(grpc.StatusCode.CANCELLED, "cancelled by the client")

Metadata = Sequence[tuple[str, str | bytes]]


class Pipe:
    """One direction of a call: bytes in order, bounded; reading after the end gives `None`."""

    def __init__(self) -> None:
        self._held: collections.deque[bytes] = collections.deque()
        self._ended = False
        self._changed = asyncio.Event()

    async def put(self, message: bytes) -> bool:
        """Add a message, waiting for room; return whether the reader may still see it."""
        while len(self._held) >= _HELD_MESSAGES and not self._ended:
            await self._changed.wait()
        if self._ended:
            return False
        self._held.append(message)
        self._notify()
        return True

    def put_last(self, message: bytes) -> None:
        """Add the only message of a unary request."""
        self._held.append(message)
        self.end()

    async def get(self) -> bytes | None:
        """Return the next message, `None` after the last."""
        while not self._held:
            if self._ended:
                return None
            await self._changed.wait()
        message = self._held.popleft()
        self._notify()
        return message

    def end(self) -> None:
        """Say that nothing follows; what is held can still be read."""
        self._ended = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


@dataclass(slots=True, kw_only=True)
class Exchange:
    """The state that both ends share."""

    method: str
    identity: str
    metadata: Metadata
    deadline: float | None
    """On the loop's clock."""
    requests: Pipe = field(default_factory=Pipe)
    responses: Pipe = field(default_factory=Pipe)
    initial_metadata: Metadata = ()
    status: Status | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    on_end: list[Callable[[], object]] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def finish(self, status: Status) -> bool:
        """End the call; the first status wins. Return whether this one did."""
        if self.status is not None:
            return False
        self.status = status
        self.requests.end()
        self.responses.end()
        self.ended.set()
        for callback in self.on_end:
            callback()
        return True

    def time_remaining(self) -> float | None:
        """Return the seconds left, `None` without a deadline."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - self.loop.time())
