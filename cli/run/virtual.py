"""`joiner run --script FILE --virtual`: a script on simulated time, and what came of it.

Everything is in this process, so nothing has to be waited for: an hour takes seconds.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from cli.run import cluster
from cli.run.in_process import Wanted, Whole, put_together
from cli.run.metering import Cost, cost
from cli.run.news import dollars
from cli.run.progress import prices_of
from cli.run.services import CATALOGUE
from libs import catalogues
from libs.checker.state import check_state
from libs.oracle.check import Violation
from libs.runtime.virtual import run_virtual
from services.simulator.config import Settings
from services.simulator.memory_api import MemoryKubeApi
from services.simulator.script import journal
from services.simulator.script.journal import Entry
from services.simulator.script.reading import Loaded, load
from services.simulator.script.timing import length

FAILED = 1

_SUMMED_UP_EVERY = timedelta(seconds=30)
_SHOWN = 20
_AT_REST = frozenset({"runs", "ended"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run came to."""

    entries: tuple[Entry, ...]
    pods: Counter[str]
    """By state: `runs`, `waits`."""
    nodes: Counter[str]
    """By state: `ready`, `unknown`."""
    waiting: tuple[str, ...]
    """Pods that neither run nor have ended."""
    violations: tuple[Violation, ...]
    """What the checker has against the last state."""

    @property
    def is_good(self) -> bool:
        """Tell whether everything runs, where it may."""
        return not self.waiting and not self.violations


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """A run as it was asked for."""

    script: Path
    joiner: bool = True
    catalogue: str = CATALOGUE
    state: Path | None = None
    """Dump that the cluster begins with."""
    log: Path | None = None
    """File for all entries, as JSON lines."""


def play(
    loaded: Loaded,
    story: "Story",
    *,
    joiner: bool = True,
    catalogue: str = CATALOGUE,
    state: Path | None = None,
) -> Outcome:
    """Play a script to its end on simulated time.

    Raises:
        InvalidRequest: the catalogue or the state cannot be read.
    """
    wanted = Wanted(
        script=loaded,
        tell=story.tell,
        joiner=joiner,
        catalogue=catalogue,
        simulator=Settings(state=state),
    )
    span = length(loaded.script)

    async def run() -> Outcome:
        async with put_together(wanted) as whole:
            story.whole = whole
            await whole.world.sleep(span)
            return await _outcome(whole, story)

    return run_virtual(run(), limit=span + timedelta(hours=1))


def run_to_the_end(asked: Play, console: Console) -> int:
    """Play a script and print what happens; return the exit code.

    Raises:
        InvalidRequest: the script or the catalogue cannot be read.
        OSError: likewise, or the log cannot be written.
    """
    story = Story(console)
    loaded = load(asked.script)
    logging.basicConfig(level=logging.ERROR)  # what services warn of is part of the story
    outcome = play(loaded, story, joiner=asked.joiner, catalogue=asked.catalogue, state=asked.state)
    if asked.log is not None:
        asked.log.write_text(journal.to_json(outcome.entries))
    prices = prices_of(catalogues.named(asked.catalogue))
    bill = cost(outcome.entries, prices, length(loaded.script))
    for line in (*_summary(outcome), *_costs(bill)):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    return 0 if outcome.is_good else FAILED


@dataclass(slots=True)
class Story:
    """All entries of a run; shown as they come, pods only in numbers."""

    console: Console | None = None
    entries: list[Entry] = field(default_factory=list)
    whole: Whole | None = None
    shown: str = ""
    summed_up: timedelta = timedelta()

    def tell(self, entry: Entry) -> None:
        """Take an entry, and show it."""
        self.entries.append(entry)
        if self.console is None:
            return
        if not entry.what.startswith("pod "):
            self._print(entry.line)
        if entry.after >= self.summed_up + _SUMMED_UP_EVERY:
            self._sum_up(entry)

    def _sum_up(self, entry: Entry) -> None:
        assert self.whole is not None  # nothing is told before it is there
        chronicle = self.whole.chronicle
        text = f"{_counted(chronicle.counts('pods'))}; nodes: {_counted(chronicle.counts('nodes'))}"
        if text != self.shown:
            self.shown, self.summed_up = text, entry.after
            self._print(f"{entry.time}  pods: {text}")

    def _print(self, line: str) -> None:
        if self.console is not None:
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)


async def _outcome(whole: Whole, story: Story) -> Outcome:
    objects = await cluster.judged_objects(MemoryKubeApi(whole.server))
    pods = whole.chronicle.states("pods")
    return Outcome(
        entries=tuple(story.entries),
        pods=whole.chronicle.counts("pods"),
        nodes=whole.chronicle.counts("nodes"),
        waiting=tuple(sorted(name for name, state in pods.items() if state not in _AT_REST)),
        violations=tuple(check_state(objects)),
    )


def _summary(outcome: Outcome) -> Iterator[str]:
    yield f"pods: {_counted(outcome.pods)}; nodes: {_counted(outcome.nodes)}"
    for name in outcome.waiting[:_SHOWN]:
        yield f"  {name} does not run"
    if not outcome.violations:
        yield "checker: accepted, kube-scheduler's rules hold for every pod"
        return
    yield f"checker: refused, {len(outcome.violations)} violations"
    for violation in outcome.violations[:_SHOWN]:
        where = " on ".join(part for part in (violation.pod, violation.node) if part)
        yield f"  {where}: {violation.rule}: {violation.message}"


def _costs(bill: Cost) -> Iterator[str]:
    if bill.highest_per_hour:
        yield (
            f"cost: {dollars(bill.highest_per_hour)} at its highest, "
            f"{dollars(bill.last_per_hour)} in the end, ${bill.total / 1_000_000_000:.4f} in all"
        )
        if bill.unpriced:
            yield f"  {bill.unpriced} nodes without a known price left out"


def _counted(states: Counter[str]) -> str:
    return ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
