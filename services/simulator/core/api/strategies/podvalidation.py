"""Validation of pods and pod templates, and what may change in a pod.

Source: Kubernetes API reference, PodSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from services.simulator.core.api import names
from services.simulator.core.api.frozen import thaw
from services.simulator.core.api.strategies.containers import (
    validate_containers,
    validate_host_ports,
    validate_own_name,
)
from services.simulator.core.api.strategies.scheduling import validate_scheduling
from services.simulator.core.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from services.simulator.core.types import table

_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_CHANGEABLE = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod(pod: Mapping[str, Any]) -> list[FieldError]:
    """Return what is wrong with a pod."""
    return list(validate_pod_spec(pod["spec"], "spec"))


def validate_pod_spec(
    spec: Mapping[str, Any], at: str, claims: frozenset[str] = frozenset()
) -> Iterator[FieldError]:
    """Yield what is wrong with a pod spec; `claims` are volumes that a controller will add."""
    volumes = spec.get("volumes") or ()
    yield from _validate_volumes(volumes, f"{at}.volumes")
    known = claims.union(volume.get("name", "") for volume in volumes)
    containers, initial = spec.get("containers") or (), spec.get("initContainers") or ()
    if not containers:
        yield required(f"{at}.containers")
    yield from validate_containers(containers, f"{at}.containers", known)
    yield from validate_host_ports(containers, f"{at}.containers")
    yield from validate_containers(initial, f"{at}.initContainers", known)
    taken = {container.get("name") for container in containers}
    for index, container in enumerate(initial):
        if container.get("name") in taken:
            yield duplicate(f"{at}.initContainers[{index}].name", container["name"])
    if spec["restartPolicy"] not in _RESTART_POLICIES:
        yield not_supported(f"{at}.restartPolicy", spec["restartPolicy"], sorted(_RESTART_POLICIES))
    if spec["dnsPolicy"] not in _DNS_POLICIES:
        yield not_supported(f"{at}.dnsPolicy", spec["dnsPolicy"], sorted(_DNS_POLICIES))
    yield from validate_scheduling(spec, at)
    for name in ("nodeName", "serviceAccountName", "priorityClassName", "runtimeClassName"):
        if value := spec.get(name):
            yield from (wrong(f"{at}.{name}", value, why) for why in names.subdomain(value))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2**31 - 1:
        yield wrong(
            f"{at}.activeDeadlineSeconds", deadline, "must be between 1 and 2147483647, inclusive"
        )


def _validate_volumes(volumes: Any, at: str) -> Iterator[FieldError]:
    order = list(table.structs()["core/v1.Volume"])
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{at}[{index}]"
        sources = sorted((name for name in volume if name != "name"), key=order.index)
        if not sources:
            yield required(where, "must specify a volume type")
        for extra in sources[1:]:
            yield not_allowed(f"{where}.{extra}", "may not specify more than 1 volume type")
        yield from validate_own_name(volume.get("name", ""), where, seen)


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


def warnings(pod: Mapping[str, Any]) -> list[str]:
    """Return what the API server warns of in a new pod."""
    found = []
    for key in pod["spec"].get("nodeSelector") or ():
        if key in _DEPRECATED:
            since, instead = _DEPRECATED[key]
            found.append(
                f'spec.nodeSelector[{key}]: deprecated since {since}; use "{instead}" instead'
            )
    for index, constraint in enumerate(pod["spec"].get("topologySpreadConstraints") or ()):
        if "labelSelector" not in constraint:
            at = f"spec.topologySpreadConstraints[{index}].labelSelector"
            found.append(f"{at}: a null labelSelector results in matching no pod")
    for index, container in enumerate(pod["spec"].get("containers") or ()):
        found += _hidden_variables(container, f"spec.containers[{index}]")
    if "." in pod["metadata"].get("name", ""):
        found.append(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising "
            "behavior; "
            "a DNS label is recommended: [must not contain dots]"
        )
    return found


_DEPRECATED = {
    "beta.kubernetes.io/os": ("v1.14", "kubernetes.io/os"),
    "beta.kubernetes.io/arch": ("v1.14", "kubernetes.io/arch"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", "topology.kubernetes.io/zone"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", "topology.kubernetes.io/region"),
    "beta.kubernetes.io/instance-type": ("v1.17", "node.kubernetes.io/instance-type"),
}


def _hidden_variables(container: Mapping[str, Any], at: str) -> Iterator[str]:
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env", ())):
        name = variable.get("name", "")
        if name in seen:
            yield (
                f'{at}.env[{index}]: hides previous definition of "{name}", '
                "which may be dropped when using apply"
            )
        seen.add(name)
