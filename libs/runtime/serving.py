"""The life of an app between build and exit, whatever it listens on.

Start: root tasks, servers, then health says SERVING when the app is ready. Stop: NOT_SERVING, no
more calls, drain within the app's patience and the grace period, cancel what is left and the tasks.
The real process (`run.py`) and the simulated world of the tests both go through `serve`.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import grpc

from libs.runtime.app import App, RootTask
from libs.runtime.guard import Guard
from libs.runtime.health import OVERALL, Health

logger = logging.getLogger(__name__)

_DRAIN_SHARE = 0.7  # of the grace period; the rest is for the tasks' own clean-up (leases)


class RootTaskEndedError(Exception):
    """A root task returned or raised; the process cannot go on without it."""

    def __init__(self, task: str) -> None:
        super().__init__(f"root task {task!r} ended")
        self.task = task


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A server, bound but not started, with its guard and the names of its services."""

    server: grpc.aio.Server
    guard: Guard
    services: tuple[str, ...]
    port: int = 0


async def serve(
    app: App,
    listeners: Sequence[Listener],
    health: Health,
    stop: asyncio.Event,
    grace: timedelta,
) -> None:
    """Run the app until `stop` is set, then end it in order; when cancelled, end it at once.

    Raises:
        ExceptionGroup: of `RootTaskEndedError`, if a root task ended.
    """
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(app.close)
        for listener in listeners:
            stack.push_async_callback(listener.server.stop, None)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_root(name, task), name=name) for name, task in app.tasks.items()
            ]
            names = sorted({name for listener in listeners for name in listener.services})
            for name in (OVERALL, *names):  # the stock servicer says SERVING from the beginning
                await health.set(name, False)
            for listener in listeners:
                await listener.server.start()
            tasks.append(group.create_task(_announce(app, names, health), name="readiness"))
            logger.info("listening", extra={"ports": [listener.port for listener in listeners]})
            await stop.wait()
            logger.info("stopping", extra={"grace_seconds": grace.total_seconds()})
            most = grace * _DRAIN_SHARE
            patience = most if app.patience is None else min(app.patience, most)
            await _drain(listeners, health, patience)
            for task in tasks:
                task.cancel()


async def _root(name: str, task: RootTask) -> None:
    try:
        await task()
    except Exception as error:
        raise RootTaskEndedError(name) from error
    raise RootTaskEndedError(name)


async def _announce(app: App, names: Sequence[str], health: Health) -> None:
    await app.ready()
    for name in (*names, OVERALL):
        await health.set(name, True)
    logger.info("serving", extra={"services": names})


async def _drain(listeners: Sequence[Listener], health: Health, grace: timedelta) -> None:
    await health.shut_down()
    for listener in listeners:
        listener.guard.drain()
    await asyncio.gather(*(listener.server.stop(grace.total_seconds()) for listener in listeners))
