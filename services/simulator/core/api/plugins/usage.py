"""What an object uses of what quotas count, and which quotas it is counted in.

Shared by the plug-in that refuses and the controller that counts.

Source: Kubernetes documentation, "Resource Quotas".
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from libs.domain import quantity_text
from services.simulator.core.api.plugins.totals import Amounts, add, pod_totals
from services.simulator.core.api.resources import Resource

Object = Mapping[str, Any]

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_COUNTED_BY_NAME = (
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
)
_ENDED = ("Succeeded", "Failed")


def usage_of(resource: Resource, obj: Object, now: datetime) -> Amounts:
    """Return what one object uses of every countable thing."""
    usage = {f"count/{resource.qualified}": "1"}
    if resource.qualified in _COUNTED_BY_NAME:
        usage[resource.plural] = "1"
    special = _SPECIAL.get(resource.qualified)
    return usage if special is None else usage | special(obj, now)


def _of_pod(pod: Object, now: datetime) -> Amounts:
    if not _counts(pod, now):
        return {}
    spec, usage = pod["spec"], {"pods": "1"}
    requests, limits = pod_totals(spec, "requests"), pod_totals(spec, "limits")
    overhead = spec.get("overhead") or {}
    add(requests, overhead)
    add(limits, {name: amount for name, amount in overhead.items() if name in limits})
    for name, amount in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            usage[name] = amount
        if name in usage or "/" in name:
            usage[f"requests.{name}"] = amount
    usage |= {f"limits.{name}": amount for name, amount in limits.items() if name in _COMPUTE}
    return usage


def _counts(pod: Object, now: datetime) -> bool:
    """Tell whether a pod still takes anything: not once it ended, or should have."""
    meta = pod["metadata"]
    if (pod.get("status") or {}).get("phase") in _ENDED:
        return False
    if "deletionTimestamp" not in meta:
        return True
    grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
    return now <= datetime.fromisoformat(meta["deletionTimestamp"]) + grace


def _of_claim(claim: Object, _now: datetime) -> Amounts:
    size = (claim["spec"]["resources"].get("requests") or {}).get("storage", "0")
    usage = {"requests.storage": size}
    if name := claim["spec"].get("storageClassName"):
        prefix = f"{name}.storageclass.storage.k8s.io"
        usage |= {f"{prefix}/requests.storage": size, f"{prefix}/persistentvolumeclaims": "1"}
    return usage


def _of_service(service: Object, _now: datetime) -> Amounts:
    spec = service["spec"]
    type_, ports = spec.get("type"), spec.get("ports") or ()
    if type_ == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(bool(port.get("nodePort")) for port in ports)
    else:
        node_ports = len(ports) if type_ in ("NodePort", "LoadBalancer") else 0
    return {
        "services.nodeports": str(node_ports),
        "services.loadbalancers": str(int(type_ == "LoadBalancer")),
    }


def _of_device_claim(claim: Object, _now: datetime) -> Amounts:
    usage: Amounts = {}
    for request in (claim["spec"].get("devices") or {}).get("requests") or ():
        exact = request.get("exactly") or {}
        if name := exact.get("deviceClassName"):
            count = str(exact.get("count") or 1)
            add(usage, {f"{name}.deviceclass.resource.k8s.io/devices": count})
    return usage


_SPECIAL: Mapping[str, Callable[[Object, datetime], Amounts]] = MappingProxyType(
    {
        "pods": _of_pod,
        "persistentvolumeclaims": _of_claim,
        "services": _of_service,
        "resourceclaims.resource.k8s.io": _of_device_claim,
    }
)


def is_counted(quota: Object, resource: Resource, obj: Object) -> bool:
    """Tell whether an object is within the scopes of a quota."""
    return all(_in_scope(resource, obj, *scope) for scope in _scopes(quota["spec"]))


def _scopes(spec: Object) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the scopes of a quota: name, operator, values."""
    yield from ((name, "Exists", ()) for name in spec.get("scopes") or ())
    for entry in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        yield entry["scopeName"], entry["operator"], tuple(entry.get("values") or ())


def _in_scope(
    resource: Resource, obj: Object, name: str, operator: str, values: tuple[str, ...]
) -> bool:
    spec = obj.get("spec") or {}
    if resource.qualified == "persistentvolumeclaims":
        chosen = spec.get("volumeAttributesClassName")
        return name == "VolumeAttributesClass" and _is_chosen(chosen, operator, values)
    if resource.qualified != "pods":
        return False
    if name == "PriorityClass":
        return _is_chosen(spec.get("priorityClassName"), operator, values)
    judge = _OF_PODS.get(name)
    return judge is not None and judge(spec)


def _is_chosen(value: str | None, operator: str, values: tuple[str, ...]) -> bool:
    if operator in ("Exists", "DoesNotExist"):
        return bool(value) is (operator == "Exists")
    return (value in values) is (operator == "In")


def _ends_by_itself(spec: Object) -> bool:
    return spec.get("activeDeadlineSeconds") is not None


def _asks_for_nothing(spec: Object) -> bool:
    sides = (pod_totals(spec, side) for side in ("requests", "limits"))
    return not any(
        quantity_text.value(amount)
        for side in sides
        for name, amount in side.items()
        if name in ("cpu", "memory")
    )


def _looks_at_other_namespaces(spec: Object) -> bool:
    affinity = spec.get("affinity") or {}
    terms: list[Object] = []
    for side in ("podAffinity", "podAntiAffinity"):
        own = affinity.get(side) or {}
        terms += own.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        preferred = own.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [one["podAffinityTerm"] for one in preferred]
    return any(term.get("namespaces") or "namespaceSelector" in term for term in terms)


_OF_PODS: Mapping[str, Callable[[Object], bool]] = MappingProxyType(
    {
        "Terminating": _ends_by_itself,
        "NotTerminating": lambda spec: not _ends_by_itself(spec),
        "BestEffort": _asks_for_nothing,
        "NotBestEffort": lambda spec: not _asks_for_nothing(spec),
        "CrossNamespacePodAffinity": _looks_at_other_namespaces,
    }
)
