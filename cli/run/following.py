"""A script that plays on the simulated cluster of a run: told as it goes, judged when it is over.

The simulator plays it and writes what it does into its log; that is all that is known of it here.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from cli.run import cluster
from cli.run.phases import Milestone, Run
from libs.checker.state import check_state

_POLL = timedelta(milliseconds=250)
_PLAYED = "script"


async def follow(run: Run, name: str, span: timedelta, log: Path) -> None:
    """Wait until a script is over, tell what it does, and judge the state that it leaves.

    Args:
        run: what to look at.
        name: of the script.
        span: how long it plays.
        log: the simulator's.
    """
    began = run.telling.elapsed
    run.telling.begin(f"playing {name}")
    told = Tail(log)
    while run.telling.elapsed - began < span:
        for line in told.lines():
            run.telling.tell(line)
        await run.clock.sleep(_POLL)
    violations = tuple(check_state(await cluster.judged_objects(run.api)))
    progress = run.telling.measure()
    run.milestones.append(
        Milestone(name="played", took=span, progress=progress, violations=violations)
    )
    run.telling.begin("done")


class Tail:
    """What a log says of a script, from where it was last read."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0

    def lines(self) -> Iterator[str]:
        """Yield what is new, in words; a line that is not whole yet waits."""
        if not self._log.exists():
            return
        with self._log.open("rb") as file:
            file.seek(self._read)
            while (line := file.readline()).endswith(b"\n"):
                self._read = file.tell()
                if told := _told(line):
                    yield told


def _told(line: bytes) -> str:
    try:
        entry = json.loads(line)
    except ValueError:
        return ""
    if not isinstance(entry, dict) or entry.get("message") != _PLAYED:
        return ""
    parts = (entry.get(key) or "" for key in ("after", "what", "subject", "detail"))
    return "  ".join(part for part in parts if part)
