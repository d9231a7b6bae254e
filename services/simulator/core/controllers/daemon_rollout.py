"""How a DaemonSet's pods of old templates are replaced: who goes now, where one more comes; pure.

Without surge old pods go first, as many as may be unavailable; with surge a new pod comes first, on
as many nodes as may have two.

Source: Kubernetes documentation, "Perform a Rolling Update on a DaemonSet".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.simulator.core.controllers.rollout import scaled
from services.simulator.core.objects import Object

Available = Callable[[Object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The pods on a node that neither ended nor were deleted."""

    new: tuple[Object, ...]
    old: tuple[Object, ...]


@dataclass(slots=True, kw_only=True)
class Moves:
    """What is done next."""

    delete: list[Object] = field(default_factory=list)
    create: list[str] = field(default_factory=list)
    """Nodes that get a new pod beside the old one."""


def surge_of(strategy: Mapping[str, Any], nodes: int) -> int:
    """Return on how many nodes a second pod may be."""
    if strategy["type"] != "RollingUpdate":
        return 0
    return scaled((strategy.get("rollingUpdate") or {}).get("maxSurge", 0), nodes, up=True)


def moves(
    strategy: Mapping[str, Any], nodes: Mapping[str, Sides], is_available: Available
) -> Moves:
    """Return what is done next.

    Args:
        strategy: the DaemonSet's update strategy.
        nodes: what is on each node that shall have a pod.
        is_available: tells of a pod.
    """
    if strategy["type"] != "RollingUpdate":
        return Moves()
    surge = surge_of(strategy, len(nodes))
    if surge:
        return _surging(surge, nodes, is_available)
    most = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
    return _draining(max(1, scaled(most, len(nodes), up=True)), nodes, is_available)


def _draining(room: int, nodes: Mapping[str, Sides], is_available: Available) -> Moves:
    """Delete old pods: those that serve nobody at once, of the others as many as there is room."""
    idle: list[Object] = []
    serving: list[Object] = []
    for sides in nodes.values():
        everyone = (*sides.new, *sides.old)
        if not any(map(is_available, everyone)):
            room -= 1
        for pod in sides.old:
            (serving if is_available(pod) else idle).append(pod)
    return Moves(delete=[*idle, *serving[: max(0, room)]])


def _surging(surge: int, nodes: Mapping[str, Sides], is_available: Available) -> Moves:
    """Let new pods come beside old ones, and old ones go once the new ones serve."""
    found = Moves()
    doubled = 0
    candidates: list[str] = []
    for name, sides in nodes.items():
        if not sides.old:
            continue
        if sides.new:
            if _any(sides.new, is_available):
                found.delete += sides.old
            else:
                doubled += 1
        elif _any(sides.old, is_available):
            candidates.append(name)
        else:
            found.create.append(name)
    found.create += candidates[: max(0, surge - doubled)]
    return found


def _any(pods: Sequence[Object], is_available: Available) -> bool:
    return any(map(is_available, pods))
