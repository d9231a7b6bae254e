"""The RuntimeClass plug-in: overhead, selector and tolerations of a runtime merged into pods."""

from typing import Any

from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
_UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


def runtime_class(reader: Any, resource: Resource, pod: Object) -> None:
    """Merge what the runtime class of a new pod asks for into the pod."""
    if resource.qualified != "pods":
        return
    name = pod["spec"].get("runtimeClassName")
    if name:
        _merge(reader, resource, pod, name)
    elif pod["spec"].get("overhead"):
        raise refused(resource, pod, _UNFOUNDED)


def _merge(reader: Any, resource: Resource, pod: Object, name: str) -> None:
    chosen = reader.find("runtimeclasses.node.k8s.io", name)
    if chosen is None:
        raise refused(resource, pod, f'pod rejected: RuntimeClass "{name}" not found')
    spec = pod["spec"]
    fixed = (chosen.get("overhead") or {}).get("podFixed")
    if fixed and spec.get("overhead", fixed) != fixed:
        why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        raise refused(resource, pod, why)
    if spec.get("overhead") and not fixed:
        raise refused(resource, pod, _UNFOUNDED)
    if fixed:
        spec["overhead"] = dict(fixed)
    scheduling = chosen.get("scheduling") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        selector = spec.setdefault("nodeSelector", {})
        if selector.get(key, value) != value:
            why = (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
            raise refused(resource, pod, why)
        selector[key] = value
    for toleration in scheduling.get("tolerations") or ():
        if toleration not in spec.setdefault("tolerations", []):
            spec["tolerations"].append(thaw(toleration))
