"""Services, endpoints, ingresses and policies: what each defaults, sets and refuses."""

import ipaddress
import zlib

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.rules import addresses, balancers, ingresses, services
from services.simulator.core.api.strategies.generations import count_changes, start_at_one
from services.simulator.core.api.strategies.strategy import BOTH, WHOLE, Object, Stored, Strategy

_AFFINITY_SECONDS = 10800
_FIRST_PORT, _PORTS = 30000, 2768
_RANGE = ipaddress.ip_network("10.96.0.0/12")
"""The addresses that Services get."""


def default_service(service: Object) -> None:
    """Fill in the defaults of a Service."""
    spec = service["spec"]
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if "timeoutSeconds" not in config:
            config = {"timeoutSeconds": _AFFINITY_SECONDS}
            spec["sessionAffinityConfig"] = {"clientIP": config}
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    if spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer"):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if services.is_reached_from_outside(spec):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        _default_places(service["status"])


def _default_places(status: Object) -> None:
    for place in (status.get("loadBalancer") or {}).get("ingress") or ():
        if place.get("ip"):
            place.setdefault("ipMode", "VIP")


def assign_address(service: Object, _now: str) -> None:
    """Give a Service a virtual address, made from its uid: nothing answers there."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return
    digest = zlib.crc32(service["metadata"]["uid"].encode())
    spec.setdefault("clusterIP", f"10.96.{digest >> 8 & 255}.{digest & 255}")
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if services.is_headless(spec) and not spec.get("selector") and "ipFamilyPolicy" not in spec:
        # Somebody else says what is behind it, so it may be of either family.
        spec.setdefault("ipFamilies", ["IPv4", "IPv6"])
        spec["ipFamilyPolicy"] = "RequireDualStack"
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    if spec["type"] in ("NodePort", "LoadBalancer"):
        _assign_ports(spec, digest)


def _assign_ports(spec: Object, digest: int) -> None:
    """Give ports without a port on nodes one; nothing listens there either."""
    if spec.get("allocateLoadBalancerNodePorts", True):
        for index, port in enumerate(spec.get("ports", ())):
            if not port.get("nodePort"):
                port["nodePort"] = _FIRST_PORT + (digest + index) % _PORTS


def in_range(service: Object) -> list[FieldError]:
    """Refuse an address that is none of those which Services get here."""
    spec = service["spec"]
    addresses = spec.get("clusterIPs") or [spec.get("clusterIP") or "None"]
    try:
        own = ipaddress.ip_address(addresses[0])
    except ValueError:
        return []
    if own in _RANGE:
        return []
    why = f"failed to allocate IP {own}: the provided network does not match the current range"
    return [wrong("spec.clusterIPs", addresses, why)]


def keep_address(service: Object, old: Stored) -> None:
    """Keep the address and the ports on nodes of a Service whose sender left them out."""
    spec, before = service["spec"], old["spec"]
    if spec["type"] == "ExternalName" or before.get("type") == "ExternalName":
        return
    for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if name in before:
            spec.setdefault(name, before[name])
    changed = {one for one in ("clusterIP", "clusterIPs") if spec.get(one) != before.get(one)}
    if changed == {"clusterIP"}:
        # Who knows of one address only means all of them.
        spec["clusterIPs"] = [spec["clusterIP"], *spec["clusterIPs"][1:]]
    if spec["type"] in ("NodePort", "LoadBalancer"):
        known = {
            (port.get("protocol"), port.get("port")): port.get("nodePort")
            for port in before.get("ports") or ()
        }
        for port in spec.get("ports", ()):
            number = known.get((port.get("protocol"), port.get("port")))
            if number and not port.get("nodePort"):
                port["nodePort"] = number


def default_endpoints(obj: Object) -> None:
    """Fill in the protocol of ports."""
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")


def default_slice(obj: Object) -> None:
    """Fill in the name and protocol of ports; an empty list is none."""
    obj["endpoints"] = obj.get("endpoints") or None
    obj["ports"] = obj.get("ports") or None
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


SERVICE = Strategy(
    default=default_service,
    prepare_create=assign_address,
    prepare_update=keep_address,
    check_name=names.label,
    validate=services.validate,
    validate_new=in_range,
    validate_update=services.fixed_address,
    validate_status=balancers.validate_of_service,
)
ENDPOINTS = Strategy(
    metadata=BOTH, default=default_endpoints, validate=addresses.validate_endpoints
)


def count_slice(new: Object, old: Stored) -> None:
    """Count every change but that of other metadata than labels."""
    count_changes(new, old)
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1


ENDPOINT_SLICE = Strategy(
    metadata=WHOLE,
    default=default_slice,
    prepare_create=start_at_one,
    prepare_update=count_slice,
    validate_new=addresses.validate_slice,
    validate_update=addresses.fixed_slice,
)
INGRESS = Strategy(
    metadata=BOTH,
    prepare_create=start_at_one,
    prepare_update=count_changes,
    validate=ingresses.validate_ingress,
    validate_new=ingresses.validate_new_ingress,
    validate_status=balancers.validate_of_ingress,
)
INGRESS_CLASS = Strategy(
    metadata=BOTH,
    default=ingresses.default_class,
    prepare_create=start_at_one,
    prepare_update=count_changes,
    validate=ingresses.validate_class,
    validate_update=ingresses.fixed_class,
)
POLICY = Strategy(
    default=ingresses.default_policy,
    prepare_create=start_at_one,
    prepare_update=count_changes,
    validate=ingresses.validate_policy,
)
