"""Spans of one run, and what many runs come to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Seconds of one run, from decoded objects to an assignment in a client's hands."""

    ingest: float
    """Objects into the cluster state."""
    snapshot: float
    """Cluster state to snapshot."""
    push: float
    """Snapshot to the solver's acknowledgement: encoded, sent, decoded, checked."""
    solve: float
    """Question to answer over gRPC."""
    answer: float
    """Answer to a mapping from pod to bin."""

    @property
    def total(self) -> float:
        """Return the sum."""
        return self.ingest + self.snapshot + self.push + self.solve + self.answer


STAGES = tuple(one.name for one in fields(Stages))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
