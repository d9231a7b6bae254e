"""The entrypoint of every service: settings, logging, metrics, build, serve, exit.

`python -m services.solver` is `run("solver", Settings, build)`. Exit statuses: 0 after SIGTERM,
1 when a root task ended or nothing could be started, 2 when the settings were refused.
"""

import asyncio
import importlib.metadata
import logging
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import NoReturn, TypeVar

from libs.domain.errors import InvalidRequest
from libs.runtime.app import App, Runtime, new_id
from libs.runtime.child import spawned
from libs.runtime.clock import SystemClock
from libs.runtime.garbage import Spared
from libs.runtime.health import Health
from libs.runtime.listeners import open_listeners, outgoing_deadlines
from libs.runtime.logging import configure
from libs.runtime.metrics import process_registry
from libs.runtime.network import GrpcNetwork
from libs.runtime.probe import ProbeServer
from libs.runtime.randomness import Random
from libs.runtime.runtime_settings import LogLevel, RuntimeSettings
from libs.runtime.serving import RootTaskEndedError, serve
from libs.runtime.settings import SettingsError, load
from libs.runtime.tls import CertificateFiles

logger = logging.getLogger(__name__)

T = TypeVar("T")

_EXIT_FAILED = 1
_EXIT_REFUSED = 2

_SWITCH_SECONDS = 0.0005
"""How long a thread waits for Python's lock before whoever has it must let go. A decision gives it
up in its native parts, and the event loop whenever it waits: by default either would get it back
five milliseconds later beside another decision, which is more than most native parts take. Beside
a busy thread a local search gets three times as far, and two decisions at once cost no more."""


def run(service: str, settings_type: type[T], build: Callable[[T, Runtime], App]) -> NoReturn:
    """Run one service until SIGTERM and leave the process."""
    sys.exit(asyncio.run(_main(service, settings_type, build)))


def new_runtime(
    service: str, settings: RuntimeSettings, certificates: CertificateFiles | None
) -> Runtime:
    """Return what a process gives to its service, and set this process up for it."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    random = Random()  # seeded by the operating system
    deadlines = outgoing_deadlines(settings)
    spared = Spared()
    return Runtime(
        service=service,
        boot_id=new_id(random),
        settings=settings,
        clock=SystemClock(),
        random=random,
        metrics=process_registry(service, importlib.metadata.version("joiner")),
        health=Health(),
        network=GrpcNetwork(certificates, deadlines),
        executor=ThreadPoolExecutor(thread_name_prefix="compute"),
        spare=spared.all_there_is,
        tidy=spared.early,
        spawn=partial(spawned, deadlines=deadlines),
    )


async def _main(service: str, settings_type: type[T], build: Callable[[T, Runtime], App]) -> int:
    configure(LogLevel.INFO, service)
    try:
        settings, own = load(os.environ, RuntimeSettings, settings_type)
        configure(settings.log_level, service)
        await _live(service, settings, lambda runtime: build(own, runtime))
    except SettingsError as error:
        return _refused(error.problems)
    except InvalidRequest as error:
        return _refused((str(error),))
    except ExceptionGroup as group:
        _log_ended(group)
        return _EXIT_FAILED
    except Exception as error:  # whatever it was, it is logged once and the process ends
        logger.error("start failed", exc_info=error)
        return _EXIT_FAILED
    logger.info("stopped")
    return os.EX_OK


async def _live(service: str, settings: RuntimeSettings, build: Callable[[Runtime], App]) -> None:
    certificates = CertificateFiles(settings.tls_dir) if settings.tls_dir else None
    runtime = new_runtime(service, settings, certificates)
    probe = ProbeServer(runtime.metrics, runtime.health)
    stop = _stop_on_signals(settings.grace_period)
    try:
        port = await probe.start(settings.probe_listen)
        logger.info("probes are served", extra={"port": port})
        app = build(runtime)
        listeners = open_listeners(app, runtime, certificates)
        await serve(app, listeners, runtime.health, stop, settings.grace_period)
    finally:
        await runtime.network.close()
        await probe.stop()
        runtime.executor.shutdown(wait=False, cancel_futures=True)


def _stop_on_signals(grace: timedelta) -> asyncio.Event:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def begin() -> None:
        if not stop.is_set():
            stop.set()
            loop.call_later(grace.total_seconds(), _give_up)

    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, begin)
    return stop


def _give_up() -> NoReturn:
    waiting = sorted(task.get_name() for task in asyncio.all_tasks())
    logger.error("did not stop within the grace period", extra={"tasks": waiting})
    os._exit(_EXIT_FAILED)


def _refused(problems: tuple[str, ...]) -> int:
    logger.error("settings refused", extra={"problems": problems})
    return _EXIT_REFUSED


def _log_ended(group: ExceptionGroup[Exception]) -> None:
    first = group.exceptions[0]
    name = first.task if isinstance(first, RootTaskEndedError) else "readiness"
    logger.error("root task ended", extra={"task": name}, exc_info=first)
