"""Validation of pods and pod templates.

Source: Kubernetes API reference, PodSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.rules.containers import (
    validate_containers,
    validate_host_ports,
    validate_own_name,
)
from libs.apiserver.rules.scheduling import validate_scheduling

_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")


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


_SOURCES = (
    *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret"),
    *("nfs", "iscsi", "glusterfs", "flocker", "persistentVolumeClaim", "rbd", "cinder", "cephfs"),
    *("quobyte", "downwardAPI", "fc", "flexVolume", "configMap", "azureFile", "vsphereVolume"),
    *("photonPersistentDisk", "portworxVolume", "azureDisk", "storageos", "projected", "scaleIO"),
    *("csi", "ephemeral", "image"),
)
"""Sources of a volume, in the order in which the server looks for them."""


def _validate_volumes(volumes: Any, at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{at}[{index}]"
        sources = sorted((name for name in volume if name != "name"), key=_SOURCES.index)
        if not sources:
            yield required(where, "must specify a volume type")
        for extra in sources[1:]:
            yield not_allowed(f"{where}.{extra}", "may not specify more than 1 volume type")
        yield from validate_own_name(volume.get("name", ""), where, seen)


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
