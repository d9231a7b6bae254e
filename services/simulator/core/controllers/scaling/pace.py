"""How fast an autoscaler follows what metrics ask for: stabilization and policies. Pure.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling: Configurable scaling behavior".
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

_STABILIZATION = timedelta(seconds=300)
_KEPT = timedelta(hours=1)
_FACTOR, _LEAST = 2, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The replicas that there may be."""

    least: int
    most: int


@dataclass(slots=True, kw_only=True)
class History:
    """What was recommended and done; things older than an hour are forgotten."""

    recommended: list[tuple[datetime, int]] = field(default_factory=list)
    added: list[tuple[datetime, int]] = field(default_factory=list)
    removed: list[tuple[datetime, int]] = field(default_factory=list)

    def recommend(self, replicas: int, now: datetime) -> None:
        """Remember a recommendation."""
        self.recommended = [one for one in self.recommended if now - one[0] <= _KEPT]
        self.recommended.append((now, replicas))

    def scale(self, before: int, after: int, now: datetime) -> None:
        """Remember a change of the replicas."""
        events = self.added if after > before else self.removed
        events[:] = [one for one in events if now - one[0] <= _KEPT]
        events.append((now, abs(after - before)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A reason and its sentence, as conditions have them."""

    reason: str
    message: str


_READY = Said(reason="ReadyForNewScale", message="recommended size matches current size")
_WITHIN = Said(
    reason="DesiredWithinRange", message="the desired count is within the acceptable range"
)
_UP_STABILIZED = Said(
    reason="ScaleUpStabilized",
    message="recent recommendations were lower than current one, applying the lowest recent "
    "recommendation",
)
_DOWN_STABILIZED = Said(
    reason="ScaleDownStabilized",
    message="recent recommendations were higher than current one, applying the highest recent "
    "recommendation",
)
_TOO_MANY = Said(
    reason="TooManyReplicas",
    message="the desired replica count is more than the maximum replica count",
)
_TOO_FEW = Said(
    reason="TooFewReplicas",
    message="the desired replica count is less than the minimum replica count",
)
_TOO_FAST = Said(
    reason="ScaleUpLimit",
    message="the desired replica count is increasing faster than the maximum scale rate",
)
_TOO_FAST_DOWN = Said(
    reason="ScaleDownLimit",
    message="the desired replica count is decreasing faster than the maximum scale rate",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What is done: the replicas, why it is stabilized, and what limits it."""

    replicas: int
    able: Said
    limit: Said
    is_limited: bool


def step(
    behavior: Mapping[str, Any] | None,
    history: History,
    limits: Limits,
    current: int,
    wanted: int,
    now: datetime,
) -> Step:
    """Return how many replicas to have now when `wanted` are recommended, and remember that.

    Args:
        behavior: as the autoscaler's spec has it; None for the old rules.
        history: changed in place.
        limits: the least and most replicas.
        current: the replicas as they are.
        wanted: the recommendation.
        now: the present instant.
    """
    if behavior is None:
        stable = _highest(history, wanted, now - _STABILIZATION)
        able = _DOWN_STABILIZED if stable != wanted else _READY
        replicas, limit = _by_old_rules(limits, current, stable)
    else:
        stable = _stabilized(behavior, history, current, wanted, now)
        told = _UP_STABILIZED if wanted >= current else _DOWN_STABILIZED
        able = told if stable != wanted else _READY
        replicas, limit = _by_policies(behavior, history, limits, current, stable, now)
    history.recommend(wanted, now)
    return Step(replicas=replicas, able=able, limit=limit, is_limited=replicas != stable)


def _highest(history: History, wanted: int, since: datetime) -> int:
    return max([wanted, *(count for at, count in history.recommended if at >= since)])


def _by_old_rules(limits: Limits, current: int, wanted: int) -> tuple[int, Said]:
    fastest = max(_FACTOR * current, _LEAST)
    most, why = (fastest, _TOO_FAST) if limits.most > fastest else (limits.most, _TOO_MANY)
    if wanted < limits.least:
        return limits.least, _TOO_FEW
    return (most, why) if wanted > most else (wanted, _WITHIN)


def _window(rules: Mapping[str, Any], usual: timedelta) -> timedelta:
    seconds = rules.get("stabilizationWindowSeconds")
    return usual if seconds is None else timedelta(seconds=seconds)


def _stabilized(
    behavior: Mapping[str, Any], history: History, current: int, wanted: int, now: datetime
) -> int:
    up = now - _window(behavior.get("scaleUp") or {}, timedelta())
    down = now - _window(behavior.get("scaleDown") or {}, _STABILIZATION)
    lowest = min([wanted, *(count for at, count in history.recommended if at > up)])
    highest = max([wanted, *(count for at, count in history.recommended if at > down)])
    return min(max(current, lowest), highest)


def _by_policies(
    behavior: Mapping[str, Any],
    history: History,
    limits: Limits,
    current: int,
    wanted: int,
    now: datetime,
) -> tuple[int, Said]:
    if wanted > current:
        rules = behavior.get("scaleUp") or {}
        fastest = max(current, _bound(rules, history, current, now, sign=1))
        most, why = (fastest, _TOO_FAST) if limits.most > fastest else (limits.most, _TOO_MANY)
        return (most, why) if wanted > most else (wanted, _WITHIN)
    if wanted < current:
        rules = behavior.get("scaleDown") or {}
        fastest = min(current, _bound(rules, history, current, now, sign=-1))
        least, why = (
            (fastest, _TOO_FAST_DOWN) if limits.least < fastest else (limits.least, _TOO_FEW)
        )
        return (least, why) if wanted < least else (wanted, _WITHIN)
    return _within_limits(limits, wanted)


def _within_limits(limits: Limits, wanted: int) -> tuple[int, Said]:
    return min(max(wanted, limits.least), limits.most), _WITHIN


def _bound(
    rules: Mapping[str, Any], history: History, current: int, now: datetime, *, sign: int
) -> int:
    """Return how many replicas the policies of one direction allow at most or at least."""
    if rules.get("selectPolicy") == "Disabled":
        return current
    proposals = [
        _allowed(policy, history, current, now, sign=sign) for policy in rules.get("policies") or ()
    ]
    if not proposals:
        return current
    widest = max if (rules.get("selectPolicy") == "Min") != (sign > 0) else min
    return widest(proposals)


def _allowed(
    policy: Mapping[str, Any], history: History, current: int, now: datetime, *, sign: int
) -> int:
    since = now - timedelta(seconds=policy["periodSeconds"])
    start = current - _changed(history.added, since) + _changed(history.removed, since)
    if policy["type"] == "Pods":
        return int(start + sign * policy["value"])
    scaled = start * (1 + sign * policy["value"] / 100)
    return math.ceil(scaled) if sign > 0 else int(scaled)


def _changed(events: Sequence[tuple[datetime, int]], since: datetime) -> int:
    return sum(change for at, change in events if at > since)
