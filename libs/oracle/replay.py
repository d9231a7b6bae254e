"""Replay recorded verdicts of a real kube-scheduler and say where we differ.

Apart because it knows the recording's shape; the filters do not.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from libs.oracle.cluster import cluster_from_lists
from libs.oracle.verdict import Verdict, judge

UNDOCUMENTED_KINDS = frozenset({"podTerm.namespaceSelectorNegative"})
"""Kinds of cases in which kube-scheduler 1.36 is known to differ from its documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line replayed."""

    id: int
    differences: tuple[str, ...]
    """What differs, for people; empty if nothing does."""
    kinds: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether schedulability, feasible nodes, reasons and message are the recorded ones."""
        return not self.differences


def replay(lines: Iterable[str]) -> Iterator[Result]:
    """Judge every recorded pod again, lazily and in order.

    Args:
        lines: JSON, one recording a line: the cluster's lists, `pending` and `verdict`.
    """
    for line in lines:
        recording = json.loads(line)
        verdict = judge(cluster_from_lists(recording), recording["pending"])
        yield Result(
            id=recording["id"],
            differences=tuple(_differences(recording["verdict"], verdict)),
            kinds=tuple(recording.get("kinds") or ()),
        )


def _differences(recorded: Mapping[str, Any], ours: Verdict) -> Iterator[str]:
    theirs = tuple(sorted(recorded["feasibleNodes"]))
    if recorded["schedulable"] != ours.schedulable:
        yield f"schedulable: recorded {recorded['schedulable']}, ours {ours.schedulable}"
    if theirs != ours.feasible:
        yield f"feasible nodes: recorded {list(theirs)}, ours {list(ours.feasible)}"
    if recorded["schedulable"]:
        return
    if (recorded.get("reasons") or {}) != ours.reasons:
        yield f"reasons: recorded {recorded.get('reasons')}, ours {ours.reasons}"
    if not (recorded.get("message") or "").startswith(ours.message):
        yield f'message: recorded "{recorded.get("message")}", ours "{ours.message}"'
