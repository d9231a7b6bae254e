"""How long a process that is to stop waits for calls."""

import asyncio
from datetime import timedelta
from typing import cast

import grpc
import pytest

from libs.runtime.app import App
from libs.runtime.guard import Guard
from libs.runtime.health import Health
from libs.runtime.serving import Listener, serve


class Server:
    """Does nothing but note how long calls may go on."""

    def __init__(self) -> None:
        self.stopped: list[float | None] = []

    async def start(self) -> None:
        pass

    async def stop(self, grace: float | None) -> None:
        self.stopped.append(grace)


class Draining:
    """A guard of which nothing else is asked."""

    def drain(self) -> None:
        pass


@pytest.mark.parametrize(
    ("patience", "seconds"),
    [
        pytest.param(None, 7.0, id="a share of the grace period"),
        pytest.param(timedelta(seconds=2), 2.0, id="less"),
        pytest.param(timedelta(minutes=1), 7.0, id="never more"),
    ],
)
async def test_calls_go_on_for_as_long_as_the_app_is_patient(
    patience: timedelta | None, seconds: float
) -> None:
    server, stop = Server(), asyncio.Event()
    stop.set()
    listener = Listener(
        server=cast(grpc.aio.Server, server), guard=cast(Guard, Draining()), services=()
    )

    async def waits() -> None:
        await asyncio.Event().wait()

    app = App(tasks={"work": waits}, patience=patience)
    await serve(app, (listener,), Health(), stop, timedelta(seconds=10))

    assert server.stopped[0] == seconds
