"""What was bought during a run: planned, as the cloud chose, and what it had to cost at least.

Apart because the plans are the watcher's, and are known here from its log alone.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cli.run.news import dollars

_APPLIED = "applied plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Sums over all plans that were carried out, in nano-dollars per hour."""

    price: int = 0
    lower_bound: int = 0


def planned(log: Path) -> Planned:
    """Return what the plans in the log of a watcher add up to."""
    if not log.exists():
        return Planned()
    return added_up(log.read_text(encoding="utf-8", errors="replace").splitlines())


def added_up(lines: Iterable[str]) -> Planned:
    """Return what the plans in these lines add up to."""
    applied = list(_applied(lines))
    return Planned(
        price=sum(one.get("planned_nanos_per_hour") or 0 for one in applied),
        lower_bound=sum(one.get("lower_bound_nanos_per_hour") or 0 for one in applied),
    )


def bill(plans: Planned, realised: Iterable[int]) -> str:
    """Return what was bought in words; `realised` are the prices of what the cloud chose."""
    return (
        f"bought in all: {dollars(plans.price)} planned, {dollars(sum(realised))} as the cloud "
        f"chose, {dollars(plans.lower_bound)} is the least that was possible"
    )


def _applied(lines: Iterable[str]) -> Iterator[dict[str, int]]:
    for line in lines:
        if _APPLIED in line:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and entry.get("message") == _APPLIED:
                yield entry
