"""What the nodes of a run cost, from the entries about them: highest rate, and dollars in all.

Pure. A node costs from its appearance until it is gone.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from cli.run.progress import Prices
from services.simulator.script.journal import Entry

_TICK = timedelta(microseconds=1)
_HOUR = timedelta(hours=1) // _TICK


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run cost; in nano-dollars."""

    highest_per_hour: int
    last_per_hour: int
    total: int
    unpriced: int
    """Nodes that are of no type of the catalogue."""


def cost(entries: Iterable[Entry], prices: Prices, until: timedelta) -> Cost:
    """Return what the nodes that the entries tell of cost up to an instant.

    Args:
        entries: of a chronicle, in order.
        prices: of the catalogue that is sold.
        until: when the run ended.
    """
    running: dict[str, int] = {}
    highest = total = unpriced = 0
    since = timedelta()
    for entry in (one for one in entries if one.subject.startswith("Node ")):
        total += sum(running.values()) * ((entry.after - since) // _TICK)
        since = entry.after
        if entry.what == "node gone":
            running.pop(entry.subject, None)
        elif entry.subject not in running and entry.what.startswith("node "):
            price = prices.get(_offering(entry.detail), 0)
            unpriced += price == 0
            running[entry.subject] = price
            highest = max(highest, sum(running.values()))
    last = sum(running.values())
    total = (total + last * ((until - since) // _TICK)) // _HOUR
    return Cost(highest_per_hour=highest, last_per_hour=last, total=total, unpriced=unpriced)


def _offering(detail: str) -> tuple[str, str, str]:
    """Return type, zone and capacity type of what is told as type, capacity type, zone."""
    kind, capacity_type, zone = (*detail.split(), "", "", "")[:3]
    return kind, zone, capacity_type
