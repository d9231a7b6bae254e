"""How fast nodes of a zone that are lost may be given up: pure arithmetic on counts and instants.

A zone where a few nodes are lost is ordinary. Where most are, something else may be broken, and
taking down their pods would do more harm: it slows down, or stops in small zones. Where no zone has
a ready node, nothing is evicted at all.

Source: Kubernetes documentation, "Nodes: Rate limits on eviction"; defaults of
kube-controller-manager 1.36.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

_UNHEALTHY_SHARE = 0.55
_LEAST_UNHEALTHY = 3
_LARGE_ZONE = 50
_EVERY = timedelta(seconds=10)
_SLOWLY = timedelta(seconds=100)


class ZoneState(Enum):
    """How much of a zone is lost."""

    NORMAL = "Normal"
    PARTIAL = "PartialDisruption"
    FULL = "FullDisruption"


def state_of(ready: int, lost: int) -> ZoneState:
    """Return the state of a zone with some ready and some lost nodes."""
    if ready == 0 and lost > 0:
        return ZoneState.FULL
    if lost >= _LEAST_UNHEALTHY and lost / (lost + ready) >= _UNHEALTHY_SHARE:
        return ZoneState.PARTIAL
    return ZoneState.NORMAL


def everything_is_lost(states: Iterable[ZoneState]) -> bool:
    """Tell whether no zone has a ready node; that is not so where there is no zone."""
    known = list(states)
    return bool(known) and all(state is ZoneState.FULL for state in known)


def pace(state: ZoneState, nodes: int) -> timedelta | None:
    """Return the time between two nodes of a zone that are given up, None for never."""
    if state is not ZoneState.PARTIAL:
        return _EVERY
    return _SLOWLY if nodes > _LARGE_ZONE else None


@dataclass(slots=True)
class Limiter:
    """A token bucket that holds one token."""

    used: datetime | None = None

    def next(self, every: timedelta, now: datetime) -> datetime:
        """Return when the next token may be taken."""
        return now if self.used is None else max(now, self.used + every)
