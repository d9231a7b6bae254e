"""What is shown while it runs: a live picture in a terminal, a line now and then elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from cli.run.news import dollars
from cli.run.progress import PodState, Progress

LINE_EVERY = timedelta(seconds=3)

_BAR = 60
_BLOCKS = "▁▂▃▄▅▆▇█"
_STYLES = {
    PodState.RUNNING: "green",
    PodState.STARTING: "cyan",
    PodState.WAITING: "yellow",
    PodState.LEAVING: "bright_black",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """Everything that is shown at one instant."""

    phase: str
    elapsed: timedelta
    progress: Progress
    costs: tuple[int, ...]
    """Nano-dollars per hour of each second so far."""
    news: tuple[str, ...]
    """Latest last."""
    footer: str = ""


class Display(Protocol):
    """Where a run is shown."""

    def show(self, screen: Screen) -> None:
        """Show the state."""

    def say(self, line: str) -> None:
        """Tell something once."""


class LiveDisplay:
    """A picture that is drawn over the last one."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, screen: Screen) -> None:
        """Draw the state."""
        self._live.update(picture(screen), refresh=True)

    def say(self, line: str) -> None:
        """Do nothing: the latest lines are part of the picture."""


class LineDisplay:
    """Lines, for logs and pipes: news as they come, the state every few seconds if it changed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown = -LINE_EVERY
        self._phase = ""
        self._state = ""

    def show(self, screen: Screen) -> None:
        """Print the state, unless it was printed a moment ago."""
        state = ", ".join(_counts(screen.progress))
        if screen.phase == self._phase and (
            state == self._state or screen.elapsed - self._shown < LINE_EVERY
        ):
            return
        self._phase, self._state, self._shown = screen.phase, state, screen.elapsed
        self._print(f"{screen.elapsed.seconds:>4} s  {screen.phase}: {state}")

    def say(self, line: str) -> None:
        """Print a line."""
        self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)


def picture(screen: Screen) -> RenderableType:
    """Return the whole picture."""
    progress = screen.progress
    head = Text.assemble(
        (f"{screen.elapsed.seconds:>4} s  ", "bold"), (screen.phase, "bold magenta")
    )
    cost = Text.assemble(
        (f"{dollars(progress.price_nanos_per_hour):>12} ", "bold"), sparkline(screen.costs, _BAR)
    )
    lines: list[RenderableType] = [
        head,
        Text(),
        bar(progress),
        legend(progress),
        Text(),
        cost,
        _pools(progress),
    ]
    lines += [Text(line, overflow="ellipsis", no_wrap=True) for line in screen.news]
    if screen.footer:
        lines.append(Text(screen.footer, style="bold"))
    return Panel(Group(*lines), title="joiner run", title_align="left")


def bar(progress: Progress) -> Text:
    """Return the pods as one bar, running ones first."""
    total = sum(progress.pods.get(state, 0) for state in _STYLES)
    text, drawn, seen = Text(), 0, 0
    for state, style in _STYLES.items():
        seen += progress.pods.get(state, 0)
        end = _BAR * seen // total if total else 0
        text.append("█" * (end - drawn), style)
        drawn = end
    return text


def legend(progress: Progress) -> Text:
    """Return the bar's numbers."""
    parts = [
        (f"{progress.pods.get(state, 0)} {state}  ", style) for state, style in _STYLES.items()
    ]
    more = f"+ {progress.daemon_pods} of DaemonSets, {progress.unplaceable} that nothing can place"
    return Text.assemble(*parts, (more, "bright_black"))


def sparkline(values: tuple[int, ...], width: int) -> str:
    """Return values over time as blocks, the highest full; at most `width` of them."""
    step = -(-len(values) // width) if values else 1
    kept = values[::step]
    top = max(kept, default=0)
    return "".join(_BLOCKS[(len(_BLOCKS) - 1) * one // top] if top else " " for one in kept)


def _pools(progress: Progress) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bright_black")
    table.add_column("nodepool")
    for name in ("nodes", "coming", "leaving", "pods", "CPU used", "$/h"):
        table.add_column(name, justify="right")
    for pool in progress.pools:
        cells = (pool.nodes, pool.coming or "", pool.leaving or "", pool.pods)
        table.add_row(
            pool.name,
            *map(str, cells),
            f"{pool.cpu_percent} %",
            dollars(pool.price_nanos_per_hour),
        )
    return table


def _counts(progress: Progress) -> Iterator[str]:
    for state in (PodState.WAITING, PodState.STARTING, PodState.RUNNING):
        yield f"{progress.pods.get(state, 0)} {state}"
    coming = f" (+{progress.coming} coming)" if progress.coming else ""
    yield f"{progress.nodes} nodes{coming}"
    yield dollars(progress.price_nanos_per_hour)
