"""The columns of services and what belongs to them.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Sequence
from datetime import datetime

from services.simulator.core.api.columns.column import (
    AGE,
    NAME,
    NONE,
    Column,
    Object,
    at,
    column,
    first_few,
    joined,
    label_map,
    label_selector,
    with_default,
)

_MOST = 3
"""How many hosts, ports and addresses are shown."""


def _cluster_ip(service: Object, _now: datetime) -> str:
    addresses = service["spec"].get("clusterIPs") or ()
    return addresses[0] if addresses else NONE


def _external_ip(service: Object, _now: datetime) -> str:
    spec = service["spec"]
    own: list[str] = list(spec.get("externalIPs") or ())
    kind = spec.get("type")
    if kind == "ExternalName":
        return str(spec.get("externalName", ""))
    if kind == "LoadBalancer":
        return ",".join([*_balancers(service), *own]) or "<pending>"
    return ",".join(own) or NONE


def _balancers(obj: Object) -> list[str]:
    entries = (obj.get("status", {}).get("loadBalancer") or {}).get("ingress") or ()
    return sorted({one.get("ip") or one.get("hostname") or "" for one in entries} - {""})


def _ports(service: Object) -> list[str]:
    ports = []
    for port in service["spec"].get("ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    return ports


def _hosts(ingress: Object, _now: datetime) -> str:
    rules: Sequence[Object] = ingress["spec"].get("rules") or ()
    shown = ",".join(one["host"] for one in rules[:_MOST] if one.get("host")) or "*"
    if len(rules) > _MOST and shown != "*":
        return f"{shown} + {len(rules) - _MOST} more..."
    return shown


def _tls(ingress: Object, _now: datetime) -> str:
    return "80, 443" if ingress["spec"].get("tls") else "80"


def _parameters(obj: Object, _now: datetime) -> str:
    found = obj.get("spec", {}).get("parameters")
    if not found:
        return NONE
    group = f".{found['apiGroup']}" if "apiGroup" in found else ""
    return f"{found.get('kind', '')}{group}/{found.get('name', '')}"


def _slice_ports(obj: Object, _now: datetime) -> str:
    ports = [
        str(one["port"]) if "port" in one else one.get("name", "*")
        for one in obj.get("ports") or ()
    ]
    return first_few(ports, _MOST) or "<unset>"


def _slice_addresses(obj: Object, _now: datetime) -> str:
    every = [one for each in obj.get("endpoints") or () for one in each.get("addresses") or ()]
    return first_few(every, _MOST) or "<unset>"


def _endpoints(obj: Object, _now: datetime) -> str:
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        addresses = [one["ip"] for one in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        found += addresses if not ports else []
        found += [_host_port(one, port["port"]) for port in ports for one in addresses]
    return first_few(found, _MOST) or (NONE if not obj.get("subsets") else "")


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


SERVICES = (
    NAME,
    column("Type", at("spec.type", "")),
    column("Cluster-IP", _cluster_ip),
    column("External-IP", _external_ip),
    column("Port(s)", joined(_ports)),
    AGE,
    column("Selector", label_map("spec.selector"), priority=1),
)
ENDPOINTS = (NAME, column("Endpoints", _endpoints), AGE)
ENDPOINT_SLICES = (
    NAME,
    column("AddressType", at("addressType", "")),
    column("Ports", _slice_ports),
    column("Endpoints", _slice_addresses),
    AGE,
)
INGRESSES = (
    NAME,
    column("Class", at("spec.ingressClassName")),
    column("Hosts", _hosts),
    column("Address", joined(_balancers, "")),
    column("Ports", _tls),
    AGE,
)
INGRESS_CLASSES = (
    Column(
        name="Name",
        cell=with_default("ingressclass.kubernetes.io/is-default-class"),
        format="name",
    ),
    column("Controller", at("spec.controller", "")),
    column("Parameters", _parameters),
    AGE,
)
NETWORK_POLICIES = (NAME, column("Pod-Selector", label_selector("spec.podSelector")), AGE)
