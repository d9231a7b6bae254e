"""A solver of its own for a benchmark: the real service, as a child process on loopback.

Laws: it is gone when the block ends; its memory and its own measure of a decision are read from
outside.
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
from types import MappingProxyType
from typing import IO

import aiohttp

from libs.domain.errors import Unavailable
from libs.runtime.clock import SystemClock

CALL_LIMIT = timedelta(minutes=30)
"""Longest decision that is waited for."""

_POLL = timedelta(milliseconds=2)
_STARTS_WITHIN = timedelta(seconds=60)
_STOPS_WITHIN = timedelta(seconds=5)
_DURATIONS = 'karpenter_scheduler_scheduling_duration_seconds_sum{controller="provisioner"}'
_KIB = 1024
_LINES_SHOWN = 5
_NONE: Mapping[str, str] = MappingProxyType({})


class SolverProcess:
    """The process; made by `solver_process`."""

    def __init__(self, process: Process, address: str, probe: str, log: IO[bytes]) -> None:
        self._process = process
        self._probe = probe
        self._log = log
        self.address = address

    async def wait_listening(self) -> None:
        """Wait until calls are accepted.

        Raises:
            Unavailable: it ended, or never listened.
        """
        clock = SystemClock()
        until = clock.monotonic() + _STARTS_WITHIN.total_seconds()
        while not await _listens(self.address):
            if self._process.returncode is not None or clock.monotonic() > until:
                raise Unavailable(f"the solver does not start: {self._last_lines()}")
            await clock.sleep(_POLL)

    def _last_lines(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return "; ".join(lines[-_LINES_SHOWN:])

    def peak_rss_bytes(self) -> int | None:
        """Return the most memory that it ever had resident, None where /proc does not say."""
        return _peak(self._process.pid)

    def peaks(self) -> list[int]:
        """Return the same of it and of each of its peers; empty without /proc."""
        return [most for one in self._all() if (most := _peak(one)) is not None]

    def cpu_seconds(self) -> list[float]:
        """Return what it and each of its peers used of the cores so far; empty without /proc."""
        return [used for one in self._all() if (used := _cpu(one)) is not None]

    def _all(self) -> list[int]:
        return [self._process.pid, *_children(self._process.pid)]

    async def decision_seconds(self) -> float:
        """Return how long all its decisions took so far, by its own clock, encoding included."""
        for line in (await self.metrics()).splitlines():
            if line.startswith(_DURATIONS):
                return float(line.rsplit(" ", 1)[1])
        return 0.0

    async def metrics(self) -> str:
        """Return its series as they are scraped."""
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://{self._probe}/metrics") as answer,
        ):
            return await answer.text()


@contextlib.asynccontextmanager
async def solver_process(settings: Mapping[str, str] = _NONE) -> AsyncIterator[SolverProcess]:
    """Start a solver, with settings of its own; it may not listen yet when the block begins."""
    listen, probe = _free_addresses(2)
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "services.solver",
            env=_environment(listen, probe) | dict(settings),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            yield SolverProcess(process, listen, probe, log)
        finally:
            await _end(process)


def _peak(pid: int) -> int | None:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    for line in status.read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB
    return None


def _cpu(pid: int) -> float | None:
    status = Path(f"/proc/{pid}/stat")
    if not status.exists():
        return None
    after_name = status.read_text().rpartition(")")[2].split()
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}").glob("task/*/children")
    return [int(one) for file in found for one in file.read_text().split()]


def _environment(listen: str, probe: str) -> dict[str, str]:
    """Return our environment with settings of this solver's own.

    An installed service has its bytecode: who is told to write none compiles all of it each time.
    """
    kept = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith("JOINER_CFG_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return kept | {
        "JOINER_CFG_LISTEN": listen,
        "JOINER_CFG_PROBE_LISTEN": probe,
        "JOINER_CFG_CALL_LIMIT": f"{int(CALL_LIMIT.total_seconds())}s",
        "JOINER_CFG_LOG_LEVEL": "warning",
        "JOINER_CFG_GRACE_PERIOD": "2s",
    }


def _free_addresses(count: int) -> list[str]:
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
