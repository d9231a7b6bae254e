"""Indexes of an indexed Job: the text form of a set of them, and which is given out next.

Source: Kubernetes documentation, "Jobs: Completion mode".
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

INDEX = "batch.kubernetes.io/job-completion-index"


def expanded(text: str) -> set[int]:
    """Return the indexes that a text such as `0-2,5` denotes."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
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
