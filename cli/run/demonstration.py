"""Puts a run together: processes, a watch of the cluster, the view, the phases, and an end.

One task group holds all of it, so that whatever goes wrong first ends the rest; the services are
ended last.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.live import Live

from cli.run import phases, processes, services, shop
from cli.run.bill import bill, planned
from cli.run.following import follow
from cli.run.observed import Observed
from cli.run.phases import Run
from cli.run.processes import Processes
from cli.run.progress import prices_of
from cli.run.summary import is_success, summary
from cli.run.telling import Telling
from cli.run.view import Display, LineDisplay, LiveDisplay
from libs import catalogues
from libs.kube import api as kinds
from libs.kube.informer import Informers
from libs.kube.transport import connect
from libs.runtime.clock import SystemClock
from libs.runtime.randomness import Random
from services.simulator.script.reading import load
from services.simulator.script.timing import length

_SEEN = (kinds.NODE_POOLS, kinds.NODE_CLAIMS, kinds.NODES, kinds.PODS)
_CLOCK = SystemClock()


class Interrupted(Exception):
    """Somebody wants the run to end before it is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where and how a run is shown."""

    place: Path
    """Folder of logs and kubeconfig."""
    console: Console
    stop: asyncio.Event
    """Set when somebody wants it to end."""
    keep: bool
    """Stay up once everything runs, until told to stop."""
    began: float
    """Monotonic instant from which time is told."""
    script: Path | None = None
    """Scenario script that plays in place of the shop."""

    @property
    def kubeconfig(self) -> Path:
        """File by which clients find the cluster."""
        return self.place / "kubeconfig"


async def demonstrate(stage: Stage) -> bool:
    """Run it from start to end; return whether the checker accepts every state.

    Raises:
        ExceptionGroup: of ServiceEnded, NotSettled, Interrupted or JoinerError.
    """
    async with processes.ended_at_last(stage.place, _CLOCK) as running, asyncio.TaskGroup() as all_:
        guard = all_.create_task(_interrupt(stage.stop), name="interrupt")
        await _start(running, stage)
        watch = all_.create_task(running.watch(), name="watch processes")
        try:
            return await _play(stage, guard)
        finally:
            guard.cancel()
            watch.cancel()


async def _interrupt(stop: asyncio.Event) -> NoReturn:
    await stop.wait()
    raise Interrupted


async def _start(running: Processes, stage: Stage) -> None:
    """Start the cluster first, then the cloud and the solver, then whoever calls them."""
    with processes.free_ports(services.PORTS) as reserved:
        ports = iter(reserved)
        arranged = services.arrange(lambda: next(ports), stage.kubeconfig, stage.script)
    for wave in (arranged[:1], arranged[1:3], arranged[3:]):
        stage.console.print(f"starting {', '.join(one.name for one in wave)}", highlight=False)
        await running.start(wave)


async def _play(stage: Stage, guard: "asyncio.Task[NoReturn]") -> bool:
    observed = Observed(_CLOCK)
    async with connect(str(stage.kubeconfig)) as api, asyncio.TaskGroup() as background:
        informers = Informers(api, _SEEN, observed, _CLOCK, Random())
        tasks = [background.create_task(informers.run(), name="informers")]
        await informers.wait_synced()
        with _ending_with_summary(stage) as runs, _display(stage.console) as display:
            telling = await _telling(stage, observed, display)
            tasks.append(background.create_task(telling.run(), name="telling"))
            run = Run(api=api, observed=observed, telling=telling, clock=_CLOCK)
            runs.append(run)
            try:
                await _phases(run, stage, guard)
            finally:
                for task in tasks:
                    task.cancel()
    return is_success(run)


async def _phases(run: Run, stage: Stage, guard: "asyncio.Task[NoReturn]") -> None:
    if stage.script is not None:
        loaded = await asyncio.to_thread(load, stage.script)
        name = loaded.script.name or stage.script.name
        await follow(run, name, length(loaded.script), stage.place / "simulator.log")
    else:
        await phases.fill(run)
    if stage.keep:
        guard.cancel()  # from here on, being told to stop is how it ends
        run.telling.footer = f"KUBECONFIG={stage.kubeconfig} kubectl get nodeclaims"
        run.telling.tell(f"stays up until Ctrl-C: {run.telling.footer}")
        run.telling.begin("up")
        await stage.stop.wait()
    elif stage.script is None:
        await _tide(run)


async def _tide(run: Run) -> None:
    """Let the load grow and shrink."""
    await phases.rise(run)
    await phases.fall(run)
    run.telling.begin("done")


@contextlib.contextmanager
def _ending_with_summary(stage: Stage) -> Iterator[list[Run]]:
    """Print what was reached, however it ends, once the view is gone."""
    runs: list[Run] = []
    try:
        yield runs
    finally:
        for run in runs:
            plans = planned(stage.place / "watcher.log")
            for line in (*summary(run), bill(plans, run.telling.bought.values())):
                stage.console.print(line, highlight=False, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _display(console: Console) -> Iterator[Display]:
    if not console.is_terminal:
        yield LineDisplay(console)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield LiveDisplay(live)


async def _telling(stage: Stage, observed: Observed, display: Display) -> Telling:
    types = await asyncio.to_thread(catalogues.named, services.CATALOGUE)
    return Telling(
        observed,
        display,
        _CLOCK,
        began=stage.began,
        prices=prices_of(types),
        unplaceable=[one.name for one in shop.WORKLOADS if not one.placeable],
    )
