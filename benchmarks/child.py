"""A service of its own for a benchmark: the real process, as a child on loopback.

Laws: it is gone when the block ends; its memory and CPU time are read from outside.
"""

import asyncio
import contextlib
import os
import socket
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import IO

from libs.domain.errors import Unavailable
from libs.runtime.clock import SystemClock

_POLL = timedelta(milliseconds=2)
_STARTS_WITHIN = timedelta(seconds=60)
_STOPS_WITHIN = timedelta(seconds=5)
_KIB = 1024
_LINES_SHOWN = 5


class Child:
    """The process; made by `child`."""

    def __init__(self, module: str, process: Process, log: IO[bytes]) -> None:
        self.module = module
        self.pid = process.pid
        self._process = process
        self._log = log

    async def wait_listening(self, address: str) -> None:
        """Wait until connections are accepted.

        Raises:
            Unavailable: it ended, or never listened.
        """
        clock = SystemClock()
        until = clock.monotonic() + _STARTS_WITHIN.total_seconds()
        while not await _listens(address):
            if self._process.returncode is not None or clock.monotonic() > until:
                raise Unavailable(f"{self.module} does not start: {self._last_lines()}")
            await clock.sleep(_POLL)

    def _last_lines(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return "; ".join(lines[-_LINES_SHOWN:])


@contextlib.asynccontextmanager
async def child(module: str, settings: Mapping[str, str]) -> AsyncIterator[Child]:
    """Run a service with our environment, but with these settings and no others."""
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            env=_environment() | dict(settings),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            yield Child(module, process, log)
        finally:
            await _end(process)


def _environment() -> dict[str, str]:
    """Return our environment without settings of services.

    An installed service has its bytecode: who is told to write none compiles all of it each time.
    """
    return {
        name: text
        for name, text in os.environ.items()
        if not name.startswith("JOINER_CFG_") and name != "PYTHONDONTWRITEBYTECODE"
    }


def peak_rss_bytes(pid: int) -> int | None:
    """Return the most memory a process ever had resident, None where /proc does not say."""
    return _memory(pid, "VmHWM:")


def rss_bytes(pid: int) -> int | None:
    """Return the memory that a process has resident now, None where /proc does not say."""
    return _memory(pid, "VmRSS:")


def _memory(pid: int, row: str) -> int | None:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith(row):
            return int(line.split()[1]) * _KIB
    return None


def cpu_seconds(pid: int) -> float | None:
    """Return what a process used of the cores so far, None where /proc does not say."""
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return None
    after_name = status.read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """Return the processes that a process started; none without /proc."""
    found = Path(f"/proc/{pid}").glob("task/*/children")
    return [int(one) for file in found for one in file.read_text().split()]


def free_addresses(count: int) -> list[str]:
    """Return loopback addresses that nobody listens on now."""
    with contextlib.ExitStack() as reserved:
        sockets = [reserved.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


async def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except OSError:
        return False
    writer.close()
    return True


async def _end(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOPS_WITHIN.total_seconds()):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
