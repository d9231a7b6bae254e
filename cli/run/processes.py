"""Services as child processes: started, awaited, watched, and ended whatever happens.

Laws:
- All are in one process group of their own, so a Ctrl-C in the terminal reaches us alone and we end
  them in order: whoever talks to the cluster first, the cluster last.
- None outlives `Processes`: what does not follow SIGTERM within its grace period is killed.
- What a service writes goes into its own file; the last lines are shown if it dies.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import aiohttp

from cli.run.services import GRACE, Service
from libs.runtime.clock import Clock

_POLL = timedelta(milliseconds=100)
_READY_WITHIN = timedelta(seconds=60)
_MARGIN = timedelta(seconds=2)
_LINES_SHOWN = 12
_OK = 200


class ServiceEnded(Exception):
    """A service ended though nobody told it to, or was never ready."""

    def __init__(self, what: str, log: Path) -> None:
        super().__init__(what)
        self.log = log

    @property
    def last_lines(self) -> list[str]:
        """Return the end of what the service wrote."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return text.splitlines()[-_LINES_SHOWN:]


@contextlib.contextmanager
def free_ports(count: int) -> Iterator[list[int]]:
    """Reserve ports of the loopback interface until the block ends.

    Another program may take one between then and its use; a service that finds its port taken says
    so and ends.
    """
    with contextlib.ExitStack() as reserved:
        ports = []
        for _ in range(count):
            one = reserved.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(int(one.getsockname()[1]))
        yield ports


@contextlib.asynccontextmanager
async def ended_at_last(folder: Path, clock: Clock) -> AsyncIterator["Processes"]:
    """Give processes that are gone when the block ends."""
    processes = Processes(folder, clock)
    try:
        yield processes
    finally:
        await processes.end()


class Processes:
    """The running services; made by `ended_at_last`."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._running: dict[str, Process] = {}
        self._group = 0

    async def start(self, services: Iterable[Service]) -> None:
        """Start services and wait until all of them are ready.

        Raises:
            ServiceEnded: one ended or was not ready in time.
        """
        started = tuple(services)
        for service in started:
            await self._start(service)
        async with asyncio.TaskGroup() as group:
            for service in started:
                group.create_task(self._ready(service), name=f"wait for {service.name}")

    async def watch(self) -> NoReturn:
        """Wait until a service ends, which it never should.

        Raises:
            ServiceEnded: always.
        """
        waits = {
            asyncio.create_task(process.wait(), name=name): name
            for name, process in self._running.items()
        }
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        first = next(iter(done))
        raise self._ended(waits[first], first.result())

    async def end(self) -> None:
        """End all; the one that was started first goes last, when nobody needs it any more."""
        names = list(self._running)
        try:
            for wave in (names[1:], names[:1]):
                await self._end(wave)
        finally:
            self._kill(names)

    def pid(self, name: str) -> int:
        """Return the process id of a service that was started."""
        return self._running[name].pid

    def log(self, name: str) -> Path:
        """Return the file that a service writes to."""
        return self._folder / f"{name}.log"

    async def _start(self, service: Service) -> None:
        with self.log(service.name).open("wb") as log:
            self._running[service.name] = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"services.{service.name}",
                env={**_inherited(), **service.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                process_group=self._group,
            )
        self._group = self._group or process.pid

    async def _ready(self, service: Service) -> None:
        process = self._running[service.name]
        try:
            async with asyncio.timeout(_READY_WITHIN.total_seconds()):
                async with aiohttp.ClientSession() as session:
                    while not await _answers(session, f"http://{service.probe}/readyz"):
                        if process.returncode is not None:
                            raise self._ended(service.name, process.returncode)
                        await self._clock.sleep(_POLL)
        except TimeoutError:
            limit = int(_READY_WITHIN.total_seconds())
            what = f"{service.name} was not ready within {limit} s"
            raise ServiceEnded(what, self.log(service.name)) from None

    async def _end(self, names: Iterable[str]) -> None:
        """Ask processes to end and wait until they have, killing those that take too long."""
        processes = [self._running[name] for name in names]
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        ends = asyncio.gather(*(process.wait() for process in processes))
        try:
            await asyncio.wait_for(asyncio.shield(ends), (GRACE + _MARGIN).total_seconds())
        except TimeoutError:
            self._kill(names)
            await ends

    def _kill(self, names: Iterable[str]) -> None:
        for name in names:
            if self._running[name].returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    self._running[name].kill()

    def _ended(self, name: str, status: int) -> ServiceEnded:
        return ServiceEnded(f"{name} ended with status {status}", self.log(name))


def _inherited() -> dict[str, str]:
    """Return our environment without settings: they would not be this run's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("JOINER_CFG_")}


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(url, timeout=aiohttp.ClientTimeout(total=2)) as answer:
            return answer.status == _OK
    except (aiohttp.ClientError, TimeoutError):
        return False
