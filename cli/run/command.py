"""`joiner run`: the command, how it can be stopped, and how it ends."""

import asyncio
import signal
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
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


def run(
    keep: Annotated[
        bool, typer.Option("--keep", help="Stay up once everything runs, until Ctrl-C.")
    ] = False,
    folder: Annotated[
        Path, typer.Option(help="Where each run makes a folder for its logs.")
    ] = Path(".run"),
) -> None:
    """Start a simulated cluster and all services, give them work, and watch them buy nodes.

    Exit code 0: everything that can run did, and the checker accepts every state; 1: it did not;
    130: interrupted.
    """
    place = folder.resolve() / f"{SystemClock().now():%Y%m%dT%H%M%SZ}"
    place.mkdir(parents=True, exist_ok=True)
    raise typer.Exit(asyncio.run(_run(place, keep=keep)))


async def _run(place: Path, *, keep: bool) -> int:
    console = Console()
    _say(console, f"logs: {place}")
    _say(console, f"shortened for the show: {services.SHORTENED}")
    stage = Stage(place=place, console=console, stop=_stop_on_signals(), keep=keep)
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
