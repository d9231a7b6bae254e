"""Runs the demonstration until it ends or is told to stop, and says how it ended."""

import asyncio
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rich.console import Console

from cli.run import services
from cli.run.demonstration import Interrupted, Stage, demonstrate
from cli.run.phases import NotSettled
from cli.run.processes import ServiceEnded
from libs.domain.errors import JoinerError
from libs.runtime.clock import SystemClock

FAILED = 1
INTERRUPTED = 130

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_OPEN_SHOWN = 20


def run_to_the_end(folder: Path, *, keep: bool, script: Path | None = None) -> int:
    """Run it and return the exit code; logs go into a new folder below `folder`.

    A script plays in place of the shop.
    """
    place = folder.resolve() / f"{SystemClock().now():%Y%m%dT%H%M%SZ}"
    place.mkdir(parents=True, exist_ok=True)
    return asyncio.run(_run(place, keep=keep, script=script))


async def _run(place: Path, *, keep: bool, script: Path | None) -> int:
    console = Console()
    _say(console, f"logs: {place}")
    _say(console, f"shortened for the show: {services.SHORTENED}")
    began = SystemClock().monotonic()
    stage = Stage(
        place=place,
        console=console,
        stop=_stop_on_signals(),
        keep=keep,
        began=began,
        script=script,
    )
    try:
        accepted = await demonstrate(stage)
    except* Interrupted:
        _say(console, "interrupted; all services are ended")
        return_code = INTERRUPTED
    except* (ServiceEnded, NotSettled, JoinerError) as group:
        for error in _leaves(group):
            for line in _explained(error):
                _say(console, line)
        return_code = FAILED
    else:
        return_code = 0 if accepted else FAILED
    _say(console, f"logs: {place}")
    return return_code


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for signum in _STOPPING:
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    return stop


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _explained(error: BaseException) -> Iterator[str]:
    yield f"failed: {error}"
    match error:
        case ServiceEnded():
            yield from error.last_lines
        case NotSettled():
            yield from (f"  {one}" for one in islice(error.still_open, _OPEN_SHOWN))
        case _:
            return


def _say(console: Console, line: str) -> None:
    console.print(line, highlight=False, markup=False, soft_wrap=True)
