"""A process that lives for its parent alone, from the inside; `child` starts it.

It has the parent's settings, listens on a Unix socket and on nothing else, has no probes and no
metrics of its own that anybody reads, and writes its log where the parent writes.
"""

import asyncio
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

from libs.runtime import server
from libs.runtime.app import App, Runtime
from libs.runtime.guard import Guard
from libs.runtime.listeners import incoming_deadlines
from libs.runtime.logging import configure
from libs.runtime.metrics import ServerMetrics
from libs.runtime.run import new_runtime
from libs.runtime.runtime_settings import RuntimeSettings
from libs.runtime.serving import Listener, serve
from libs.runtime.settings import load

T = TypeVar("T")


def run_child(service: str, settings_type: type[T], build: Callable[[T, Runtime], App]) -> NoReturn:
    """Serve at the socket that the command line names until the parent is gone."""
    address = Path(sys.argv[1])
    threading.Thread(target=_follow_parent, args=(address.parent,), daemon=True).start()
    # What ends a group of processes ends the parent, in order; it still needs this one meanwhile.
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, signal.SIG_IGN)
    settings, own = load(os.environ, RuntimeSettings, settings_type)
    configure(settings.log_level, service)
    asyncio.run(_live(service, settings, lambda runtime: build(own, runtime), address))
    sys.exit(os.EX_OK)


def _follow_parent(folder: Path) -> NoReturn:
    """End this process when standard input ends, whatever it is doing."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(os.EX_OK)


async def _live(
    service: str, settings: RuntimeSettings, build: Callable[[Runtime], App], address: Path
) -> None:
    runtime = new_runtime(service, settings, None)
    app = build(runtime)
    guard = Guard(deadlines=incoming_deadlines(settings), metrics=ServerMetrics(runtime.metrics))
    listening = server.new_server(guard)
    services = server.register(listening, app.servicers, runtime.health)
    server.bind(listening, f"unix:{address}", None)
    listener = Listener(server=listening, guard=guard, services=services)
    await serve(app, (listener,), runtime.health, asyncio.Event(), settings.grace_period)
