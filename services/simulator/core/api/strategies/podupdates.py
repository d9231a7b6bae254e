"""What may change in a pod.

Source: Kubernetes API reference, PodSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.field_errors import FieldError, not_allowed
from services.simulator.core.api.frozen import thaw

_CHANGEABLE = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_update(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """Return which forbidden changes an update makes."""
    errors = list(_gate_changes(new["spec"], old["spec"]))
    if errors or new["spec"] == old["spec"]:
        return errors
    if not _only_allowed_changes(new["spec"], old["spec"]):
        errors.append(not_allowed("spec", _CHANGEABLE))
    return errors


def _gate_changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[FieldError]:
    known = {gate["name"] for gate in old.get("schedulingGates", ())}
    for index, gate in enumerate(new.get("schedulingGates", ())):
        if gate["name"] not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield not_allowed(f"spec.schedulingGates[{index}].name", why)


def _only_allowed_changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    allowed: dict[str, Any] = thaw(old)
    for kind in ("containers", "initContainers"):
        containers = new.get(kind) or ()
        if len(containers) != len(old.get(kind) or ()):
            return False
        for index, container in enumerate(containers):
            allowed[kind][index]["image"] = container.get("image", "")
    if _covers(new.get("tolerations", ()), old.get("tolerations", ())):
        _take_over(allowed, new, "tolerations")
    _take_over(allowed, new, "schedulingGates")
    if "activeDeadlineSeconds" in new:
        before = old.get("activeDeadlineSeconds")
        if before is None or new["activeDeadlineSeconds"] <= before:
            allowed["activeDeadlineSeconds"] = new["activeDeadlineSeconds"]
    if old.get("schedulingGates"):
        if _covers_map(new.get("nodeSelector", {}), old.get("nodeSelector", {})):
            _take_over(allowed, new, "nodeSelector")
        _take_over(allowed, new, "affinity")
    return allowed == new


def _covers(new: Any, old: Any) -> bool:
    return all(entry in new for entry in old)


def _covers_map(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    return all(new.get(name) == value for name, value in old.items())


def _take_over(allowed: dict[str, Any], new: Mapping[str, Any], name: str) -> None:
    if name in new:
        allowed[name] = new[name]
    else:
        allowed.pop(name, None)
