"""In-place resize: what a pod's containers were given, what is in force, and what waits.

The kubelet gives what the spec asks as soon as the node has room, and a moment later it is in
force. Only pods that were resized carry it in their status: for all others the spec says the same.

Source: Kubernetes documentation, "Resize CPU and Memory Resources assigned to Containers";
KEP-1287.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from services.simulator.core.objects import Object

DEFERRED = "Deferred"
INFEASIBLE = "Infeasible"

Resources = dict[str, Mapping[str, Any]]
"""The resources of containers, by name."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why what is asked cannot be given now (`Deferred`) or ever (`Infeasible`)."""

    reason: str
    message: str


@dataclass(slots=True, kw_only=True)
class Resizing:
    """Where the resize of a pod stands; empty for one that was never resized."""

    given: Resources = field(default_factory=dict)
    in_force: Resources = field(default_factory=dict)
    ends: datetime | None = None
    """When what was given is in force."""
    obstacle: Obstacle | None = None
    generation: int = 0
    """That of the spec that the conditions speak of."""


def resumed(status: Mapping[str, Any]) -> Resizing:
    """Return where a resize stands as the pod's status tells it."""
    resizing = Resizing()
    for kind in ("initContainerStatuses", "containerStatuses"):
        for entry in status.get(kind) or ():
            if entry.get("resources") is None:
                continue
            resizing.in_force[entry["name"]] = entry["resources"]
            requests = entry.get("allocatedResources") or {}
            resizing.given[entry["name"]] = {**entry["resources"], "requests": requests}
    return resizing


def asked_of(pod: Mapping[str, Any]) -> Resources:
    """Return what the spec asks for the containers that run on."""
    spec = pod["spec"]
    sidecars = (
        one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"
    )
    return {one["name"]: one.get("resources") or {} for one in (*sidecars, *spec["containers"])}


def differs(one: Resources, other: Resources) -> bool:
    """Tell whether requests or limits of cpu or memory differ in any container."""
    return any(_compared(one[name]) != _compared(other.get(name, {})) for name in one)


def _compared(resources: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    return {
        (side, name): (resources.get(side) or {})[name]
        for side in ("requests", "limits")
        for name in ("cpu", "memory")
        if name in (resources.get(side) or {})
    }


def ask(
    resizing: Resizing,
    pod: Object,
    before: Resources,
    judge: Callable[[], Obstacle | None],
    ends: datetime,
) -> str:
    """Give the spec's resources if the node has room; return what happened, for an event.

    Args:
        resizing: changed in place.
        pod: as it is now.
        before: what its containers asked before the change.
        judge: says what is in the way.
        ends: when what is given now would be in force.
    """
    asked = asked_of(pod)
    given = resizing.given or before
    if not differs(asked, given):
        resizing.obstacle = None
        return ""
    resizing.given, resizing.in_force = given, resizing.in_force or given
    known, resizing.obstacle = resizing.obstacle, judge()
    resizing.generation = pod["metadata"].get("generation", 0)
    if resizing.obstacle is not None:
        told = known is not None and known.reason == resizing.obstacle.reason
        return "" if told else resizing.obstacle.reason
    resizing.given, resizing.ends = asked, ends
    return "Started"


def finish(resizing: Resizing, containers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Put what was given in force; return the containers that have to be restarted for it."""
    before, resizing.in_force, resizing.ends = resizing.in_force, resizing.given, None
    return [
        one["name"]
        for one in containers
        if one["name"] in before
        and _changed(before[one["name"]], resizing.given[one["name"]]) & _restarting(one)
    ]


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    before, after = _compared(old), _compared(new)
    return {key[1] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def _restarting(container: Mapping[str, Any]) -> set[str]:
    policies = container.get("resizePolicy") or ()
    return {one["resourceName"] for one in policies if one["restartPolicy"] == "RestartContainer"}


def conditions_of(resizing: Resizing) -> list[Object]:
    """Return the conditions that tell of a resize, without times."""
    found: list[Object] = []
    if resizing.obstacle is not None:
        found.append(
            {
                "type": "PodResizePending",
                "status": "True",
                "reason": resizing.obstacle.reason,
                "message": resizing.obstacle.message,
                "observedGeneration": resizing.generation,
            }
        )
    if resizing.ends is not None:
        found.append(
            {
                "type": "PodResizeInProgress",
                "status": "True",
                "observedGeneration": resizing.generation,
            }
        )
    return found
