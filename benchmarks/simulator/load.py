"""What clients do to the simulator: create, list, watch; each phase gives its own figures.

Laws: real HTTP on loopback, from this process; every phase ends within `PHASE_LIMIT` or fails.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

import aiohttp

from benchmarks.simulator import objects
from benchmarks.simulator.connection import Connection, connect
from benchmarks.timing import percentile
from libs.domain.errors import Unavailable
from libs.runtime.clock import SystemClock

PHASE_LIMIT = timedelta(minutes=10)
"""Longest time for one phase."""

_CREATED = 201
_JSON = "application/json"
_MERGE = "application/merge-patch+json"
_POLL = timedelta(seconds=1)
_SETTLE = timedelta(seconds=2)
_TICK = timedelta(milliseconds=4)
_TELL_EVERY = 1000
_STAMP = re.compile(rb'"' + objects.STAMP.encode() + rb'":"([0-9.]+)"')

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Creates:
    """How fast objects were created."""

    count: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Return the rate."""
        return self.count / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One list of all pods."""

    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut:
    """How late watchers heard of changes, from the sending of each."""

    changes: int
    changes_per_second: float
    seconds: Sequence[float]
    """Of each change to each watcher that heard of it."""
    missing: int
    """Changes by watchers that were never told."""


async def create(
    address: str, path: str, bodies: Sequence[bytes], clients: int, tell: Tell
) -> Creates:
    """Create objects, each client one after the other.

    Raises:
        Unavailable: one was refused, or it took too long.
    """
    clock = SystemClock()
    left = iter(enumerate(bodies, start=1))
    async with _connections(address, clients) as connections, _limited(path):
        begun = clock.monotonic()
        async with asyncio.TaskGroup() as group:
            for one in connections:
                group.create_task(_create_all(one, path, left, tell))
        return Creates(count=len(bodies), seconds=clock.monotonic() - begun)


async def _create_all(
    connection: Connection, path: str, left: Iterator[tuple[int, bytes]], tell: Tell
) -> None:
    for number, body in left:
        status = await connection.send("POST", path, body, _JSON)
        if status != _CREATED:
            raise Unavailable(f"a create of {path} was answered {status}")
        if number % _TELL_EVERY == 0:
            tell(f"created {number:,} of {path}")


async def wait_until(
    address: str, path: str, query: dict[str, str], count: int, tell: Tell
) -> float:
    """Wait until a list has so many objects, and return how long that took.

    Raises:
        Unavailable: it took too long.
    """
    clock = SystemClock()
    begun = clock.monotonic()
    async with _limited(path), aiohttp.ClientSession(f"http://{address}") as session:
        while True:
            async with session.get(path, params=query | {"limit": "1"}) as answer:
                page = json.loads(await answer.read())
            found = len(page["items"]) + page["metadata"].get("remainingItemCount", 0)
            if found == count:
                return clock.monotonic() - begun
            tell(f"{found:,} of {path}, waiting for {count:,}")
            await clock.sleep(_POLL)


async def list_all(address: str, path: str, query: dict[str, str]) -> Listing:
    """Read a whole list, counting only; raises `Unavailable` if it takes too long."""
    clock = SystemClock()
    size = 0
    async with _limited(path), aiohttp.ClientSession(f"http://{address}") as session:
        begun = clock.monotonic()
        async with session.get(path, params=query) as answer:
            async for chunk in answer.content.iter_any():
                size += len(chunk)
        return Listing(seconds=clock.monotonic() - begun, bytes=size)


async def newest(address: str, path: str) -> str:
    """Return the resourceVersion of a list as it is now."""
    async with (
        aiohttp.ClientSession(f"http://{address}") as session,
        session.get(path, params={"limit": "1"}) as answer,
    ):
        page = json.loads(await answer.read())
    return str(page["metadata"]["resourceVersion"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How many changes of how many pods, for how long."""

    per_second: int
    duration: timedelta
    pods: int
    watchers: int
    writers: int = 16


async def fan_out(address: str, pace: Pace, tell: Tell) -> FanOut:
    """Change pods at a pace while others watch all pods, and return how late they heard of it.

    Raises:
        Unavailable: a change was refused, or it took too long.
    """
    since = await newest(address, objects.PODS)
    late: list[float] = []
    clock = SystemClock()
    async with _limited("watch"), aiohttp.ClientSession(f"http://{address}") as session:
        watching = [asyncio.create_task(_watch(session, since, late)) for _ in range(pace.watchers)]
        try:
            await clock.sleep(_SETTLE)
            begun = clock.monotonic()
            changes = await _change(address, pace, tell)
            took = clock.monotonic() - begun
            await clock.sleep(_SETTLE)
        finally:
            for one in watching:
                one.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
    return FanOut(
        changes=changes,
        changes_per_second=changes / took,
        seconds=late,
        missing=changes * pace.watchers - len(late),
    )


async def _watch(session: aiohttp.ClientSession, since: str, late: list[float]) -> None:
    clock = SystemClock()
    query = {"watch": "true", "resourceVersion": since}
    endless = aiohttp.ClientTimeout(total=None)
    async with session.get(objects.PODS, params=query, timeout=endless) as answer:
        async for line in answer.content:
            stamp = _STAMP.search(line)
            if stamp is not None:
                late.append(clock.monotonic() - float(stamp[1]))


async def _change(address: str, pace: Pace, tell: Tell) -> int:
    clock = SystemClock()
    total = round(pace.per_second * pace.duration.total_seconds())
    queue: asyncio.Queue[int | None] = asyncio.Queue()
    async with _connections(address, pace.writers) as connections, asyncio.TaskGroup() as group:
        for one in connections:
            group.create_task(_patch_all(one, queue, pace.pods))
        begun = clock.monotonic()
        sent = 0
        while sent < total:
            due = min(total, int((clock.monotonic() - begun) * pace.per_second))
            for number in range(sent, due):
                queue.put_nowait(number)
            if due // _TELL_EVERY != sent // _TELL_EVERY:
                tell(f"{due:,} of {total:,} changes")
            sent = due
            await clock.sleep(_TICK)
        for _ in connections:
            queue.put_nowait(None)
    return total


async def _patch_all(connection: Connection, queue: asyncio.Queue[int | None], pods: int) -> None:
    clock = SystemClock()
    while (number := await queue.get()) is not None:
        body = objects.stamped(clock.monotonic())
        path = objects.pod_path(number * 7919 % pods)
        status = await connection.send("PATCH", path, body, _MERGE)
        if status != 200:
            raise Unavailable(f"a patch of {path} was answered {status}")


def late(found: FanOut, share: float) -> float | None:
    """Return a percentile of the lateness in seconds, None if nobody heard of anything."""
    return percentile(found.seconds, share) if found.seconds else None


@asynccontextmanager
async def _connections(address: str, count: int) -> AsyncIterator[list[Connection]]:
    connections = [await connect(address) for _ in range(count)]
    try:
        yield connections
    finally:
        for one in connections:
            one.close()


@asynccontextmanager
async def _limited(what: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(PHASE_LIMIT.total_seconds()):
            yield
    except TimeoutError:
        raise Unavailable(f"{what}: not done within {PHASE_LIMIT}") from None
