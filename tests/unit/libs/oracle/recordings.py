"""The recorded verdicts of a real kube-scheduler, kept in `tests/data`."""

import lzma
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

_FILE = Path(__file__).parents[3] / "data" / "kube_scheduler_verdicts.jsonl.xz"


def recorded_lines(*, start: int = 0, every: int = 1) -> Iterator[str]:
    with lzma.open(_FILE, "rt", encoding="utf-8") as lines:
        yield from islice(lines, start, None, every)
