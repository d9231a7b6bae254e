"""The resize subresource of pods: change the resources of running containers, nothing else.

Source: Kubernetes documentation, "Resize CPU and Memory Resources assigned to
Containers"; KEP-1287.
"""

from typing import Any

from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from services.simulator.core.api import errors
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies.pods import qos_class

Object = dict[str, Any]
_KINDS = ("containers", "initContainers")
_MUTABLE = ("cpu", "memory")


def take_resources(resource: Resource, new: Object, old: Object) -> Object:
    """Return the old pod with the new one's resources; raises the 422 of other containers."""
    resized: Object = thaw(old)
    resized["metadata"] = new["metadata"]
    for kind in _KINDS:
        wanted, present = new["spec"].get(kind) or (), resized["spec"].get(kind) or ()
        if [entry["name"] for entry in wanted] != [entry["name"] for entry in present]:
            why = f"{kind} may not be added or removed on resize"
            errors.check(resource, old["metadata"]["name"], [not_allowed(f"spec.{kind}", why)])
        for container, source in zip(present, wanted, strict=True):
            container["resources"] = source["resources"]
            if "resizePolicy" in source:
                container["resizePolicy"] = source["resizePolicy"]
    return resized


def validate(new: Object, old: Object) -> list[FieldError]:
    """Return what a resize may not do: touch other resources, change the quality of service."""
    found = [
        not_allowed("spec", "only cpu and memory resources are mutable")
        for kind in _KINDS
        for after, before in zip(
            new["spec"].get(kind) or (), old["spec"].get(kind) or (), strict=True
        )
        if _others(after["resources"]) != _others(before["resources"])
    ]
    if not found and qos_class(new["spec"]) != old["status"].get("qosClass"):
        kept = old["status"].get("qosClass")
        found.append(wrong("spec", kept, "Pod QOS Class may not change as a result of resizing"))
    return found[:1]


def _others(resources: Object) -> dict[str, dict[str, str]]:
    return {
        side: {
            name: text for name, text in (resources.get(side) or {}).items() if name not in _MUTABLE
        }
        for side in ("limits", "requests")
    }
