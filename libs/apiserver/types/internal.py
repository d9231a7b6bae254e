"""Values of built-in types as Kubernetes holds them in memory, and how two of them differ.

Apart because refusals of changes show them: every field by Go's name for it, in Go's order, absent
ones with their zero. Types of the meta package keep the names that JSON has for them.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from types import MappingProxyType
from typing import Any

from libs.apiserver.types import codec, table

_POD_SPEC, _POD_CONTEXT = "core/v1.PodSpec", "core/v1.PodSecurityContext"
_META = "meta/v1.ObjectMeta"
_MOVED: Mapping[str, str] = MappingProxyType(
    {
        "hostNetwork": "bool",
        "hostPID": "bool",
        "hostIPC": "bool",
        "shareProcessNamespace": "*bool",
        "hostUsers": "*bool",
    }
)
"""Fields of pod specs that in memory are their security contexts', with their types."""

_ORDER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        _POD_SPEC: (
            *("volumes", "initContainers", "containers", "ephemeralContainers", "restartPolicy"),
            *("terminationGracePeriodSeconds", "activeDeadlineSeconds", "dnsPolicy"),
            *("nodeSelector", "serviceAccountName", "automountServiceAccountToken", "nodeName"),
            *("securityContext", "imagePullSecrets", "hostname", "subdomain"),
            *("setHostnameAsFQDN", "affinity", "schedulerName", "tolerations", "hostAliases"),
            *("priorityClassName", "priority", "preemptionPolicy", "dnsConfig"),
            *("readinessGates", "runtimeClassName", "overhead", "enableServiceLinks"),
            *("topologySpreadConstraints", "os", "schedulingGates", "resourceClaims"),
            *("resources", "hostnameOverride", "schedulingGroup"),
        ),
        _POD_CONTEXT: (
            *("seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot"),
            *("supplementalGroups", "supplementalGroupsPolicy", "fsGroup"),
            *("fsGroupChangePolicy", "sysctls", "seccompProfile", "appArmorProfile"),
            "seLinuxChangePolicy",
        ),
    }
)
"""The order of fields where it is another one than in the API."""

_ZEROS: Mapping[str, Any] = MappingProxyType(
    {"string": "", "bool": False, "quantity": "0", "intstr": 0, "int32": 0, "int64": 0}
)
_CONTEXT_LINES = 3


def internal(type_: str, value: Any) -> Any:
    """Return a value in canonical form as it is held in memory."""
    bare = type_.lstrip("*")
    if value is None and type_.startswith(("*", "[]", "map:")):
        return None
    if bare.startswith("[]"):
        return [internal(bare[2:], item) for item in value]
    if bare.startswith("map:"):
        return {key: internal(bare[4:], value[key]) for key in sorted(value)}
    if bare.startswith("meta/"):
        return codec.ordered(bare, value)
    if table.struct_of(bare) is None:
        return _ZEROS.get(bare) if value is None else value
    return dict(_members(bare, value or {}))


def _members(type_: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    struct = table.structs()[type_]
    if type_ == _POD_CONTEXT:
        for name, kind in _MOVED.items():
            yield name[0].upper() + name[1:], internal(kind, value.get(name))
    if type_ == _POD_SPEC:
        moved = {name: value[name] for name in _MOVED if name in value}
        value = {**value, "securityContext": {**value.get("securityContext", {}), **moved}}
    for name in _ORDER.get(type_, tuple(struct)):
        if name in struct and struct[name].type == _META:
            yield from codec.ordered(_META, value.get(name) or {}).items()
        elif name in struct:
            yield struct[name].go_name, internal(struct[name].type, value.get(name))


def difference(type_: str, before: Any, after: Any) -> str:
    """Return the unified difference of two values, with three lines around each change."""
    old, new = _lines(type_, before), _lines(type_, after)
    found = unified_diff(old, new, n=_CONTEXT_LINES, lineterm="")
    return "".join(f"{line}\n" for line in list(found)[2:])


def _lines(type_: str, value: Any) -> list[str]:
    return json.dumps(internal(type_, value), indent=1, ensure_ascii=False).splitlines()
