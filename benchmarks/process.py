"""A solver of its own for a benchmark: the real service, as a child process on loopback.

Laws: it is gone when the block ends; its memory and its own measure of a decision are read from
outside.
"""

import contextlib
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from types import MappingProxyType

import aiohttp

from benchmarks.child import Child, child, children, cpu_seconds, free_addresses, peak_rss_bytes

CALL_LIMIT = timedelta(minutes=30)
"""Longest decision that is waited for."""

_DURATIONS = 'karpenter_scheduler_scheduling_duration_seconds_sum{controller="provisioner"}'
_NONE: Mapping[str, str] = MappingProxyType({})


class SolverProcess:
    """The process; made by `solver_process`."""

    def __init__(self, process: Child, address: str, probe: str) -> None:
        self._process = process
        self._probe = probe
        self.address = address

    async def wait_listening(self) -> None:
        """Wait until calls are accepted.

        Raises:
            Unavailable: it ended, or never listened.
        """
        await self._process.wait_listening(self.address)

    def peak_rss_bytes(self) -> int | None:
        """Return the most memory that it ever had resident, None where /proc does not say."""
        return peak_rss_bytes(self._process.pid)

    def peaks(self) -> list[int]:
        """Return the same of it and of each of its peers; empty without /proc."""
        return [most for one in self._all() if (most := peak_rss_bytes(one)) is not None]

    def cpu_seconds(self) -> list[float]:
        """Return what it and each of its peers used of the cores so far; empty without /proc."""
        return [used for one in self._all() if (used := cpu_seconds(one)) is not None]

    def _all(self) -> list[int]:
        return [self._process.pid, *children(self._process.pid)]

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
    listen, probe = free_addresses(2)
    own = {
        "JOINER_CFG_LISTEN": listen,
        "JOINER_CFG_PROBE_LISTEN": probe,
        "JOINER_CFG_CALL_LIMIT": f"{int(CALL_LIMIT.total_seconds())}s",
        "JOINER_CFG_LOG_LEVEL": "warning",
        "JOINER_CFG_GRACE_PERIOD": "2s",
    }
    async with child("services.solver", own | dict(settings)) as process:
        yield SolverProcess(process, listen, probe)
