"""The Priority plug-in: priority classes resolved into pods, one default at most."""

from typing import Any

from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
CLASSES = "priorityclasses.scheduling.k8s.io"


def priority(reader: Any, resource: Resource, obj: Object) -> None:
    """Resolve the priority of a new pod; refuse a second default class."""
    if resource.qualified == "pods":
        _resolve(reader, resource, obj)
    elif resource.qualified == CLASSES and obj.get("globalDefault"):
        for other in reader.list(CLASSES):
            if other.get("globalDefault"):
                name = other["metadata"]["name"]
                why = (
                    f"PriorityClass {name} is already marked as default. Only one default can exist"
                )
                raise refused(resource, obj, why)


def _resolve(reader: Any, resource: Resource, pod: Object) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName")
    if name:
        chosen = reader.find(CLASSES, name)
        if chosen is None:
            raise refused(resource, pod, f"no PriorityClass with name {name} was found")
    else:
        defaults = [entry for entry in reader.list(CLASSES) if entry.get("globalDefault")]
        chosen = min(defaults, key=lambda entry: entry["value"], default=None)
    value = chosen.get("value", 0) if chosen else 0
    if spec.get("priority", value) != value:
        raise refused(
            resource,
            pod,
            f"the integer value of priority ({spec['priority']}) must not be provided in pod "
            "spec; priority admission "
            f"controller computed {value} from the given PriorityClass name",
        )
    spec["priority"] = value
    policy = (chosen or {}).get("preemptionPolicy") or "PreemptLowerPriority"
    if spec.get("preemptionPolicy", policy) != policy:
        raise refused(
            resource,
            pod,
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
            f"provided in pod spec; priority admission controller computed {policy} from the given "
            "PriorityClass name",
        )
    spec["preemptionPolicy"] = policy
    if chosen and not name:
        spec["priorityClassName"] = chosen["metadata"]["name"]
