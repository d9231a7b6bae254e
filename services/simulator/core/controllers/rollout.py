"""How a rolling update moves replicas from old ReplicaSets to the new one: pure arithmetic.

Law: never more than `replicas + maxSurge` pods, never fewer available ones than `replicas -
maxUnavailable` by our doing.

Source: Kubernetes documentation, "Deployments: Rolling Update".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.domain.errors import InvalidRequest

_SHARE = re.compile(r"(\d{1,9})%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """A ReplicaSet as a rollout sees it."""

    name: str
    wanted: int
    available: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a rollout may do at once."""

    replicas: int
    surge: int
    unavailable: int


def bounds_of(spec: Mapping[str, Any]) -> Bounds:
    """Return the bounds that a Deployment sets; with both at zero, one may be unavailable."""
    replicas = spec["replicas"]
    rolling = (spec.get("strategy") or {}).get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", 0), replicas, up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0), replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return Bounds(replicas=replicas, surge=surge, unavailable=min(unavailable, replicas))


def scaled(value: int | str, total: int, *, up: bool) -> int:
    """Return a number, or a share of `total` such as `25%`, rounded up or down.

    Raises:
        InvalidRequest: it is neither.
    """
    if isinstance(value, int):
        return value
    match = _SHARE.fullmatch(value)
    if match is None:
        raise InvalidRequest(f'"{value}" is neither a number nor a share such as 25%')
    share = int(match[1]) * total
    return -(-share // 100) if up else share // 100


def in_proportion(
    bounds: Bounds, sizes: Sequence[Replicas], most_before: Mapping[str, int]
) -> dict[str, int]:
    """Return the replicas by name when a Deployment is scaled in the middle of a rollout.

    Args:
        bounds: as they are now.
        sizes: the ReplicaSets with replicas, the newest first.
        most_before: the most pods there might be when each of them was scaled last.
    """
    allowed = bounds.replicas + bounds.surge if bounds.replicas else 0
    left = allowed - sum(one.wanted for one in sizes)
    grows = left > 0
    # Of equal ones the newest grows first, and the oldest shrinks first.
    listed = sizes if grows else sizes[::-1]
    ordered = sorted(listed, key=lambda one: -one.wanted)
    goals: dict[str, int] = {}
    for one in ordered:
        before = most_before.get(one.name) or allowed
        share = round(one.wanted * allowed / before) - one.wanted if before else -one.wanted
        step = min(max(share, 0), left) if grows else max(min(share, 0), left)
        goals[one.name] = one.wanted + step
        left -= step
    if ordered:
        first = ordered[0].name
        goals[first] = max(0, goals[first] + left)
    return goals


def plan(bounds: Bounds, new: Replicas, old: Sequence[Replicas]) -> dict[str, int]:
    """Return the replicas that each shall want now, by name; `old` has the oldest first."""
    goals = {one.name: one.wanted for one in (*old, new)}
    if new.wanted >= bounds.replicas:
        goals[new.name] = bounds.replicas
    else:
        room = bounds.replicas + bounds.surge - sum(goals.values())
        goals[new.name] = new.wanted + max(0, min(room, bounds.replicas - new.wanted))
    spare = _spare(bounds, new, goals)
    for one in old:  # first what is not available anyway
        drop = min(spare, one.wanted - min(one.available, one.wanted))
        goals[one.name] -= drop
        spare -= drop
    available = sum(one.available for one in (*old, new))
    spare = min(spare, available - (bounds.replicas - bounds.unavailable))
    for one in old:
        drop = max(0, min(spare, goals[one.name]))
        goals[one.name] -= drop
        spare -= drop
    return goals


def _spare(bounds: Bounds, new: Replicas, goals: Mapping[str, int]) -> int:
    """Return how many old replicas may go now."""
    coming = max(0, goals[new.name] - new.available)
    floor = bounds.replicas - bounds.unavailable
    return max(0, sum(goals.values()) - floor - coming)
