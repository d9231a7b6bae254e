"""Validation of Services.

Source: Kubernetes API reference, ServiceSpec; order and wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    between,
    formed,
    ip_address,
    ip_network,
    needed_one_of,
    one_of,
)
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.metadata import validate_labels
from libs.apiserver.rules.addresses import reachable
from libs.apiserver.rules.handlers import PORTS, validate_port

Object = dict[str, Any]
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICIES = ("Cluster", "Local")
_FAMILIES = ("IPv4", "IPv6")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_LONGEST_AFFINITY = 86400
_NO_ALIAS = "may not be set for ExternalName services"
_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Service."""
    spec = obj["spec"]
    kind = spec.get("type", "")
    found = list(_validate_kind(spec, kind))
    found += _validate_ports(spec.get("ports") or ())
    found += validate_labels(spec.get("selector") or {}, "spec.selector")
    found += needed_one_of(spec, "spec", "sessionAffinity", ("ClientIP", "None"))
    found += _validate_affinity(spec)
    if kind != "ExternalName":
        found += _validate_addresses(spec)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        at = f"spec.externalIPs[{index}]"
        found += list(ip_address(address, at)) or list(reachable(address, at))
    found += needed_one_of(spec, "spec", "type", _TYPES)
    found += _validate_numbers(spec, kind)
    found += _validate_balancer(spec, kind)
    found += _validate_policies(spec, kind)
    return found


def fixed_address(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another address for a Service that has one."""
    spec, before = new["spec"], old["spec"]
    if "ExternalName" in (spec.get("type"), before.get("type")):
        return []
    own, known = spec.get("clusterIPs") or [""], before.get("clusterIPs") or [""]
    if known[0] and own[0] and own[0] != known[0]:
        return [wrong("spec.clusterIPs[0]", own, "may not change once set")]
    return []


def is_headless(spec: Stored) -> bool:
    """Tell whether a Service has no address of its own."""
    return bool(spec.get("clusterIP") == "None")


def _validate_kind(spec: Stored, kind: str) -> Iterator[FieldError]:
    if not spec.get("ports") and not is_headless(spec) and kind != "ExternalName":
        yield required("spec.ports")
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        why = f"may not be set to 'None' for {kind} services"
        yield wrong("spec.clusterIPs[0]", "None", why)
    if kind != "ExternalName":
        return
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            yield not_allowed(f"spec.{name}", _NO_ALIAS)
    alias = spec.get("externalName", "").removesuffix(".")
    if not alias:
        yield required("spec.externalName")
    else:
        yield from formed(alias, "spec.externalName", names.subdomain)


def _validate_ports(ports: Sequence[Stored]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name, number = f"spec.ports[{index}]", port.get("name", ""), port.get("port", 0)
        if len(ports) > 1 and not name:
            yield required(f"{at}.name")
        elif name:
            yield from formed(name, f"{at}.name", names.label)
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        if not PORTS[0] <= number <= PORTS[1]:
            yield wrong(f"{at}.port", number, between(PORTS))
        yield from needed_one_of(port, at, "protocol", _PROTOCOLS)
        yield from validate_port(port.get("targetPort", 0), f"{at}.targetPort")
        if "appProtocol" in port:
            yield from formed(port["appProtocol"], f"{at}.appProtocol", names.qualified_name)


def _validate_affinity(spec: Stored) -> Iterator[FieldError]:
    config, at = spec.get("sessionAffinityConfig"), "spec.sessionAffinityConfig"
    if spec.get("sessionAffinity") == "None" and config is not None:
        yield not_allowed(at, "must not be set when session affinity is None")
    elif spec.get("sessionAffinity") == "ClientIP":
        seconds = ((config or {}).get("clientIP") or {}).get("timeoutSeconds")
        if seconds is not None and not 0 < seconds <= _LONGEST_AFFINITY:
            why = f"must be greater than 0 and less than {_LONGEST_AFFINITY}"
            yield wrong(f"{at}.clientIP.timeoutSeconds", seconds, why)


def _validate_addresses(spec: Stored) -> Iterator[FieldError]:
    addresses, own = spec.get("clusterIPs") or (), spec.get("clusterIP", "")
    if own and not addresses:
        yield required("spec.clusterIPs")
    elif own and addresses and addresses[0] != own:
        yield wrong("spec.clusterIPs", addresses, "first value must match `clusterIP`")
    elif not own and addresses:
        yield wrong("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified")
    yield from _validate_families(spec)
    yield from _validate_forms(addresses)


def _validate_families(spec: Stored) -> Iterator[FieldError]:
    families = spec.get("ipFamilies") or ()
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            yield not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
    yield from one_of(spec, "spec", "ipFamilyPolicy", _FAMILY_POLICIES)


def _validate_forms(addresses: Sequence[str]) -> Iterator[FieldError]:
    if addresses and addresses[0] == "None":
        if len(addresses) > 1:
            yield wrong("spec.clusterIPs", addresses, "'None' must be the first and only value")
        return
    for index, address in enumerate(addresses):
        yield from ip_address(address, f"spec.clusterIPs[{index}]")
    if len(addresses) > 2:
        yield wrong("spec.clusterIPs", addresses, "may only hold up to 2 values")


def _validate_numbers(spec: Stored, kind: str) -> Iterator[FieldError]:
    ports = spec.get("ports") or ()
    outer = [(port.get("protocol"), port.get("nodePort", 0)) for port in ports]
    inner = [(port.get("protocol"), port.get("port", 0)) for port in ports]
    for index, port in enumerate(ports):
        if port.get("nodePort") and kind == "ClusterIP":
            why = "may not be used when `type` is 'ClusterIP'"
            yield not_allowed(f"spec.ports[{index}].nodePort", why)
    for index, port in enumerate(ports):
        if port.get("nodePort") and outer[index] in outer[:index]:
            yield duplicate(f"spec.ports[{index}].nodePort", port["nodePort"])
    for index, (protocol, number) in enumerate(inner):
        if (protocol, number) in inner[:index]:
            shown = {
                "Name": "",
                "Protocol": protocol,
                "AppProtocol": None,
                "Port": number,
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield duplicate(f"spec.ports[{index}]", shown)


def _validate_balancer(spec: Stored, kind: str) -> Iterator[FieldError]:
    is_balancer, ranges = kind == "LoadBalancer", spec.get("loadBalancerSourceRanges") or ()
    if ranges and not is_balancer:
        yield not_allowed("spec.LoadBalancerSourceRanges", _BALANCER_ONLY)
    for index, text in enumerate(ranges):
        yield from ip_network(text.strip(), f"spec.LoadBalancerSourceRanges[{index}]")
    if "allocateLoadBalancerNodePorts" in spec and not is_balancer:
        yield not_allowed("spec.allocateLoadBalancerNodePorts", _BALANCER_ONLY)
    if "loadBalancerClass" in spec:
        if is_balancer:
            at = "spec.loadBalancerClass"
            yield from formed(spec["loadBalancerClass"], at, names.qualified_name)
        else:
            yield not_allowed("spec.loadBalancerClass", _BALANCER_ONLY)


def _validate_policies(spec: Stored, kind: str) -> Iterator[FieldError]:
    policy, at = spec.get("externalTrafficPolicy", ""), "spec.externalTrafficPolicy"
    if is_reached_from_outside(spec):
        yield from needed_one_of(spec, "spec", "externalTrafficPolicy", _POLICIES)
    elif policy:
        yield wrong(at, policy, "may only be set for externally-accessible services")
    if spec.get("healthCheckNodePort") and not (kind == "LoadBalancer" and policy == "Local"):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield wrong("spec.healthCheckNodePort", spec["healthCheckNodePort"], why)
    yield from one_of(spec, "spec", "internalTrafficPolicy", _POLICIES)
    yield from one_of(spec, "spec", "trafficDistribution", _DISTRIBUTIONS)


def is_reached_from_outside(spec: Stored) -> bool:
    """Tell whether a Service is meant for clients outside the cluster."""
    kind = spec.get("type", "")
    if kind in ("LoadBalancer", "NodePort"):
        return True
    return bool(kind == "ClusterIP" and spec.get("externalIPs"))
