"""Defaults and validation of ingresses, their classes and network policies.

Source: Kubernetes API reference, networking.k8s.io; wordings as recorded from kube-apiserver 1.36.
"""

import ipaddress
from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    between,
    domain_prefixed_path,
    formed,
    in_range,
    ip_network,
    one_of,
    present_and_formed,
)
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    too_long,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.handlers import PORTS, validate_port
from libs.apiserver.rules.selectors import validate_selector

Object = dict[str, Any]
_LONGEST_CONTROLLER = 250
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_DIRECTIONS = (("ingress", "from"), ("egress", "to"))
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_WITHIN = ("//", "/./", "/../", "%2f", "%2F")
_NOT_LAST = ("/..", "/.")
_CLASS = "kubernetes.io/ingress.class"


def default_policy(obj: Object) -> None:
    """Fill in the defaults of a NetworkPolicy."""
    spec = obj["spec"]
    for direction, _peers in _DIRECTIONS:
        for rule in spec.get(direction) or ():
            for port in rule.get("ports") or ():
                port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def validate_policy(obj: Object) -> list[FieldError]:
    """Return what is wrong with a NetworkPolicy."""
    spec = obj["spec"]
    found = list(validate_selector(spec.get("podSelector"), "spec.podSelector"))
    for direction, peers in _DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            at = f"spec.{direction}[{index}]"
            for number, port in enumerate(rule.get("ports") or ()):
                found += _validate_port(port, f"{at}.ports[{number}]")
            for number, peer in enumerate(rule.get(peers) or ()):
                found += _validate_peer(peer, f"{at}.{peers}[{number}]")
    types = spec.get("policyTypes") or ()
    if len(types) > 2:
        why = "may not specify more than two policyTypes"
        return [*found, wrong("spec.policyTypes", types, why)]
    for index, name in enumerate(types):
        if name not in ("Ingress", "Egress"):
            found.append(not_supported(f"spec.policyTypes[{index}]", name, ("Ingress", "Egress")))
    return found


def _validate_port(port: Stored, at: str) -> Iterator[FieldError]:
    if port.get("protocol", "TCP") not in _PROTOCOLS:
        yield not_supported(f"{at}.protocol", port["protocol"], _PROTOCOLS)
    number, last = port.get("port"), port.get("endPort")
    if number is None:
        if last is not None:
            yield wrong(f"{at}.endPort", last, "may not be specified when `port` is not specified")
        return
    if isinstance(number, str) and last is not None:
        yield wrong(f"{at}.endPort", last, "may not be specified when `port` is non-numeric")
    yield from validate_port(number, f"{at}.port")
    if isinstance(number, int) and last is not None:
        if last < number:
            yield wrong(f"{at}.endPort", number, "must be greater than or equal to `port`")
        if not PORTS[0] <= last <= PORTS[1]:
            yield wrong(f"{at}.endPort", last, between(PORTS))


def _validate_peer(peer: Stored, at: str) -> Iterator[FieldError]:
    for name in ("podSelector", "namespaceSelector"):
        yield from validate_selector(peer.get(name), f"{at}.{name}")
    if "ipBlock" in peer:
        yield from _validate_block(peer["ipBlock"], f"{at}.ipBlock")
    if not peer:
        yield required(at, "must specify a peer")
    elif len(peer) > 1 and "ipBlock" in peer:
        yield not_allowed(at, "may not specify both ipBlock and another peer")


def _validate_block(block: Stored, at: str) -> Iterator[FieldError]:
    whole = block.get("cidr", "")
    if not whole:
        yield required(f"{at}.cidr")
        return
    yield from ip_network(whole, f"{at}.cidr")
    outer = _network(whole)
    for index, text in enumerate(block.get("except") or () if outer else ()):
        yield from ip_network(text, f"{at}.except[{index}]")
        inner = _network(text)
        if inner is not None and not _is_within(inner, outer):
            yield wrong(f"{at}.except[{index}]", text, "must be a strict subset of `cidr`")


def _network(text: str) -> Any:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def _is_within(inner: Any, outer: Any) -> bool:
    return bool(inner.version == outer.version and inner != outer and inner.subnet_of(outer))


def validate_ingress(obj: Object) -> list[FieldError]:
    """Return what is wrong with an Ingress."""
    spec = obj["spec"]
    found: list[FieldError] = []
    rules, backend = spec.get("rules") or (), spec.get("defaultBackend")
    if not rules and backend is None:
        why = "either `defaultBackend` or `rules` must be specified"
        found.append(wrong("spec", spec.get("rules"), why))
    if backend is not None:
        found += _validate_backend(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        found += _validate_rule(rule, f"spec.rules[{index}]")
    for index, entry in enumerate(spec.get("tls") or ()):
        found += _validate_tls(entry, f"spec.tls[{index}]")
    if "ingressClassName" in spec:
        found += formed(spec["ingressClassName"], "spec.ingressClassName", names.subdomain)
    return found


def validate_new_ingress(obj: Object) -> list[FieldError]:
    """Return what is wrong with an Ingress that is new: a class that is named in two ways."""
    old, new = (
        (obj["metadata"].get("annotations") or {}).get(_CLASS),
        obj["spec"].get("ingressClassName"),
    )
    if old is None or new is None or old == new:
        return []
    why = "must match `ingressClassName` when both are specified"
    return [wrong(f"annotations.{_CLASS}", old, why)]


def _validate_host(host: str, at: str) -> Iterator[FieldError]:
    yield from formed(host, at, names.wildcard if "*" in host else names.subdomain)


def _validate_tls(entry: Stored, at: str) -> Iterator[FieldError]:
    for index, host in enumerate(entry.get("hosts") or ()):
        yield from _validate_host(host, f"{at}.hosts[{index}]")
    if entry.get("secretName"):
        yield from formed(entry["secretName"], f"{at}.secretName", names.subdomain)


def _validate_rule(rule: Stored, at: str) -> Iterator[FieldError]:
    host = rule.get("host", "")
    if host:
        if _is_address(host):
            yield wrong(f"{at}.host", host, "must be a DNS name, not an IP address")
        yield from _validate_host(host, f"{at}.host")
    if "http" not in rule:
        return
    paths, where = rule["http"].get("paths") or (), f"{at}.http.paths"
    if not paths:
        yield required(where)
    for index, path in enumerate(paths):
        yield from _validate_path(path, f"{where}[{index}]")


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _validate_path(path: Stored, at: str) -> Iterator[FieldError]:
    kind, text = path.get("pathType"), path.get("path", "")
    if kind is None:
        yield required(f"{at}.pathType", "pathType must be specified")
        return
    if kind not in _PATH_TYPES:
        yield not_supported(f"{at}.pathType", kind, _PATH_TYPES)
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        yield wrong(f"{at}.path", text, "must be an absolute path")
    if kind in ("Exact", "Prefix"):
        for part in _NOT_WITHIN:
            if part in text:
                yield wrong(f"{at}.path", text, f"must not contain '{part}'")
        for part in _NOT_LAST:
            if text.endswith(part):
                yield wrong(f"{at}.path", text, f"cannot end with '{part}'")
    yield from _validate_backend(path.get("backend") or {}, f"{at}.backend")


def _validate_backend(backend: Stored, at: str) -> Iterator[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield wrong(at, "", "cannot set both resource and service backends")
    elif resource is not None:
        for name in ("kind", "name"):
            if not resource.get(name):
                yield required(f"{at}.resource.{name}")
    elif service is not None:
        yield from _validate_service(service, at)
    else:
        yield wrong(at, "", "resource or service backend is required")


def _validate_service(service: Stored, at: str) -> Iterator[FieldError]:
    where = f"{at}.service"
    if not service.get("name"):
        yield required(f"{where}.name")
    else:
        yield from formed(service["name"], f"{where}.name", names.label)
    port = service.get("port") or {}
    if port.get("name") and port.get("number"):
        yield wrong(at, "", "cannot set both port name & port number")
    elif port.get("name"):
        yield from formed(port["name"], f"{where}.port.name", names.port_name)
    elif port.get("number"):
        yield from in_range(port, f"{where}.port", "number", PORTS)
    else:
        yield required(at, "port name or number is required")


def default_class(obj: Object) -> None:
    """Fill in the scope of what an IngressClass refers to."""
    parameters = obj["spec"].get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def validate_class(obj: Object) -> list[FieldError]:
    """Return what is wrong with an IngressClass."""
    return list(_validate_class(obj["spec"]))


def _validate_class(spec: Stored) -> Iterator[FieldError]:
    controller = spec.get("controller", "")
    if len(controller) > _LONGEST_CONTROLLER:
        yield too_long("spec.controller", _LONGEST_CONTROLLER)
    yield from domain_prefixed_path(controller, "spec.controller")
    if "parameters" in spec:
        yield from _validate_parameters(spec["parameters"], "spec.parameters")


def _validate_parameters(parameters: Stored, at: str) -> Iterator[FieldError]:
    if "apiGroup" in parameters:
        yield from formed(parameters["apiGroup"], f"{at}.apiGroup", names.subdomain)
    for name in ("kind", "name"):
        yield from present_and_formed(parameters, at, name, names.path_segment)
    yield from one_of(parameters, at, "scope", ("Cluster", "Namespace"))
    namespace, scope = parameters.get("namespace"), parameters.get("scope")
    if scope == "Cluster" and namespace is not None:
        yield not_allowed(f"{at}.namespace", "`parameters.scope` is set to 'Cluster'")
    if scope == "Namespace":
        if namespace is None:
            yield required(f"{at}.namespace", "`parameters.scope` is set to 'Namespace'")
        else:
            yield from formed(namespace, f"{at}.namespace", names.label)


def fixed_class(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another controller of a class that exists."""
    controller = new["spec"].get("controller", "")
    if controller == old["spec"].get("controller", ""):
        return []
    return [wrong("spec.controller", controller, IMMUTABLE)]
