"""What a real kube-scheduler said, kept in `tests/data`."""

import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_DATA = Path(__file__).parents[3] / "data"


def recorded_lines(*, start: int = 0, every: int = 1) -> Iterator[str]:
    """Yield what was recorded from a cluster."""
    yield from _lines("kube_scheduler_verdicts.jsonl.xz", start, every)


def thin_lines(*, start: int = 0, every: int = 1) -> Iterator[str]:
    """Yield what its filters said, run in process, of kinds that the others are thin in."""
    yield from _lines("kube_scheduler_thin_verdicts.jsonl.xz", start, every)


def _lines(name: str, start: int, every: int) -> Iterator[str]:
    with lzma.open(_DATA / name, "rt", encoding="utf-8") as lines:
        yield from islice(lines, start, None, every)
