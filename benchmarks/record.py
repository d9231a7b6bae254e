"""A result: one JSON object to a line, or a row of a table for people."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.timing import STAGES, Stages, percentile

_NANOS = 10**9
_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large a question was."""

    pods: int
    """Those that waited, or arrived."""
    types: int
    nodes: int
    """Those that existed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an answer comes to."""

    placed: int
    unplaced: int
    new_nodes: int
    cost_nanos_per_hour: int
    """Of the new nodes."""
    lower_bound_nanos_per_hour: int | None
    violations: int | None
    """Rules that the plan breaks, as the checker says; None: not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A result."""

    name: str
    sizes: Sizes
    seconds: Sequence[float]
    """Of each run."""
    peak_rss_bytes: int | None
    outcome: Outcome
    more: Mapping[str, Any]
    """Fields of this benchmark alone."""

    def document(self) -> dict[str, Any]:
        """Return the JSON object."""
        middle = percentile(self.seconds, 0.5)
        outcome = self.outcome
        return {
            "name": self.name,
            "pods": self.sizes.pods,
            "types": self.sizes.types,
            "nodes": self.sizes.nodes,
            "pods_per_second": round(self.sizes.pods / middle, 1),
            "seconds_p50": round(middle, 6),
            "seconds_p99": round(percentile(self.seconds, 0.99), 6),
            "peak_rss_bytes": self.peak_rss_bytes,
            "cost_per_hour": outcome.cost_nanos_per_hour / _NANOS,
            "lower_bound_per_hour": _dollars(outcome.lower_bound_nanos_per_hour),
            "placed": outcome.placed,
            "unplaced": outcome.unplaced,
            "new_nodes": outcome.new_nodes,
            "violations": outcome.violations,
            "runs": len(self.seconds),
            **self.more,
        }


class Result(Protocol):
    """What every benchmark gives: a JSON object."""

    def document(self) -> Mapping[str, Any]:
        """Return the JSON object."""


def line(result: Result) -> str:
    """Return the JSON object of a result on one line."""
    return json.dumps(result.document())


def stage_fields(runs: Sequence[Stages]) -> dict[str, Any]:
    """Return p50 and p99 of each stage, in seconds."""
    return {f"{stage}_seconds": spread([getattr(run, stage) for run in runs]) for stage in STAGES}


def decision_fields(pods: int, seconds: Sequence[float]) -> dict[str, Any]:
    """Return what the solver itself took, by its own clock: all but gRPC and its messages."""
    middle = percentile(seconds, 0.5)
    return {
        "kernel_seconds": spread(seconds),
        "kernel_pods_per_second": round(pods / middle, 1) if middle else None,
    }


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50 and p99, in seconds."""
    return {
        "p50": round(percentile(seconds, 0.5), 6),
        "p99": round(percentile(seconds, 0.99), 6),
    }


def readable(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values of a result for people."""
    return [(name.replace("_", " "), _text(name, value)) for name, value in document.items()]


def _dollars(nanos: int | None) -> float | None:
    return None if nanos is None else nanos / _NANOS


def _text(name: str, value: Any) -> str:
    match value:
        case None:
            return "-"
        case {"p50": p50, "p99": p99}:
            return f"{p50:.4f} (p99 {p99:.4f})"
        case int() if name.endswith("_bytes"):
            return f"{value / _MIB:,.0f} MiB"
        case bool() | str():
            return str(value)
        case int() | float():
            return f"{value:,.4f}".rstrip("0").rstrip(".")
    return str(value)
