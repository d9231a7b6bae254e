"""Indexes of an indexed Job: the text form of a set of them, and which is given out next.

Source: Kubernetes documentation, "Jobs: Completion mode".
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

INDEX = "batch.kubernetes.io/job-completion-index"

_RUN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MOST = 100_000


def expanded(text: str) -> set[int]:
    """Return the indexes that a text such as `0-2,5` denotes; what is malformed denotes none."""
    found: set[int] = set()
    for part in text.split(","):
        if match := _RUN.fullmatch(part):
            first, last = int(match[1]), int(match[2] or match[1])
            found.update(range(first, min(last, first + _MOST) + 1))
    return found


def compressed(indexes: Iterable[int]) -> str:
    """Return the text of a set of indexes; three or more in a row become a range."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(map(_text, runs))


def _text(run: list[int]) -> str:
    if len(run) <= 2:
        return ",".join(map(str, run))
    return f"{run[0]}-{run[-1]}"


def free_indexes(job: Mapping[str, Any], running: Collection[int]) -> Iterator[int]:
    """Yield the indexes to be run, the smallest first; none for a Job without indexes."""
    if job["spec"]["completionMode"] != "Indexed":
        return
    done = expanded(job["status"].get("completedIndexes", ""))
    for index in range(job["spec"].get("completions") or 0):
        if index not in done and index not in running:
            yield index
