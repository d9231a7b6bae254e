"""Another process for the same work, as its parent sees it: started, spoken to, ended.

It is a process of ours with a service of its own, reached by gRPC on a Unix socket that only this
user may open. Started anew, not forked: a fork of a process in which gRPC's threads run is not
safe. What the child does is in `child_process`.

Laws: it is gone when the block ends, and its socket with it; when the parent is gone, however that
came, the child goes too.
"""

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import grpc

from libs.runtime.channel import DomainChannel
from libs.runtime.network import OPTIONS
from libs.runtime.timeouts import CallDeadlines


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A process that was started; it may not listen yet, or any more."""

    pid: int
    channel: grpc.aio.Channel
    """Calls wait for the first connection only if they ask for it (`wait_for_ready`)."""
    ended: Callable[[], Awaitable[int]]
    """Waits for its end and gives its exit status."""


Spawn = Callable[[str], AbstractAsyncContextManager[Child]]
"""Starts a child by the name of its module, and ends it with the block.

Raises:
    OSError: none can be started here: there is nowhere to put the socket, or no process to have.
"""


@contextlib.asynccontextmanager
async def spawned(module: str, deadlines: CallDeadlines) -> AsyncIterator[Child]:
    """Run `python -m module SOCKET` with our settings while the block runs."""
    with tempfile.TemporaryDirectory(prefix="joiner-", ignore_cleanup_errors=True) as folder:
        address = Path(folder) / "grpc"
        # Its standard input is a pipe whose other end nobody has but us: it ends when we do.
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, str(address), stdin=asyncio.subprocess.PIPE
        )
        below = grpc.aio.insecure_channel(f"unix:{address}", options=OPTIONS)
        channel = DomainChannel(lambda: below, deadlines)
        try:
            yield Child(pid=process.pid, channel=channel, ended=process.wait)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # it keeps nothing that would be worth a farewell
            await process.wait()
            await channel.close()
