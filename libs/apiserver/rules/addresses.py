"""Validation of Endpoints and EndpointSlices.

Source: Kubernetes API reference, Endpoints, EndpointSlice; wordings as recorded from kube-apiserver
1.36.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    between,
    formed,
    formed_if_present,
    ip_address,
    needed_one_of,
    one_of,
    present,
)
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    required,
    too_many,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE, validate_labels
from libs.apiserver.rules.handlers import PORTS

Object = dict[str, Any]
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ENDPOINTS, _MOST_ADDRESSES, _MOST_PORTS, _MOST_HINTS = 1000, 100, 20000, 8


def reachable(text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with an address as the end of a connection."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        yield wrong(at, text, "must be a valid IP address")
        return
    if address.is_unspecified:
        yield wrong(at, text, f"may not be unspecified ({text})")
    if address.is_loopback:
        yield wrong(at, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if address.is_link_local:
        yield wrong(at, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if any(
        address in network for network in _LOCAL_MULTICAST if network.version == address.version
    ):
        why = "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
        yield wrong(at, text, why)


_LOCAL_MULTICAST = (ipaddress.ip_network("224.0.0.0/24"), ipaddress.ip_network("ff02::/16"))


def validate_endpoints(obj: Object) -> list[FieldError]:
    """Return what is wrong with Endpoints."""
    found: list[FieldError] = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        at = f"subsets[{index}]"
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            found.append(required(at, "must specify `addresses` or `notReadyAddresses`"))
        for name in ("addresses", "notReadyAddresses"):
            for number, address in enumerate(subset.get(name) or ()):
                found += _validate_address(address, f"{at}.{name}[{number}]")
        ports = subset.get("ports") or ()
        for number, port in enumerate(ports):
            found += _validate_port(port, f"{at}.ports[{number}]", needs_name=len(ports) > 1)
    return found


def _validate_address(address: Stored, at: str) -> Iterator[FieldError]:
    text = address.get("ip", "")
    yield from ip_address(text, f"{at}.ip")
    yield from formed_if_present(address, at, "hostname", names.label)
    if "nodeName" in address:
        yield from formed(address["nodeName"], f"{at}.nodeName", names.subdomain)
    yield from reachable(text, f"{at}.ip")


def _validate_port(port: Stored, at: str, *, needs_name: bool) -> Iterator[FieldError]:
    if needs_name:
        yield from present(port, at, "name")
    yield from formed_if_present(port, at, "name", names.label)
    number = port.get("port", 0)
    if not PORTS[0] <= number <= PORTS[1]:
        yield wrong(f"{at}.port", number, between(PORTS))
    yield from needed_one_of(port, at, "protocol", _PROTOCOLS)
    if "appProtocol" in port:
        yield from formed(port["appProtocol"], f"{at}.appProtocol", names.qualified_name)


def validate_slice(obj: Object) -> list[FieldError]:
    """Return what is wrong with an EndpointSlice."""
    kind = obj.get("addressType", "")
    found = list(needed_one_of(obj, "", "addressType", _TYPES))
    found += _validate_slice_ports(obj.get("ports") or ())
    endpoints = obj.get("endpoints") or ()
    if len(endpoints) > _MOST_ENDPOINTS:
        return [*found, too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)]
    for index, endpoint in enumerate(endpoints):
        found += _validate_endpoint(endpoint, f"endpoints[{index}]", kind)
    return found


def _validate_slice_ports(ports: Sequence[Stored]) -> Iterator[FieldError]:
    if len(ports) > _MOST_PORTS:
        yield too_many("ports", len(ports), _MOST_PORTS)
        return
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name = f"ports[{index}]", port.get("name", "")
        yield from formed_if_present(port, at, "name", names.label)
        if name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        yield from one_of(port, at, "protocol", _PROTOCOLS)
        if "appProtocol" in port:
            yield from formed(port["appProtocol"], f"{at}.appProtocol", names.qualified_name)


def _validate_endpoint(endpoint: Stored, at: str, kind: str) -> Iterator[FieldError]:
    addresses, where = endpoint.get("addresses") or (), f"{at}.addresses"
    if not addresses:
        yield required(where, "must contain at least 1 address")
    elif len(addresses) > _MOST_ADDRESSES:
        yield too_many(where, len(addresses), _MOST_ADDRESSES)
    for index, address in enumerate(addresses):
        yield from _validate_slice_address(address, where, index, kind)
    if "nodeName" in endpoint:
        yield from formed(endpoint["nodeName"], f"{at}.nodeName", names.subdomain)
    topology = endpoint.get("deprecatedTopology") or {}
    yield from validate_labels(topology, f"{at}.deprecatedTopology")
    if "hostname" in endpoint:
        yield from formed(endpoint["hostname"], f"{at}.hostname", names.label)
    yield from _validate_hints(endpoint.get("hints") or {}, f"{at}.hints")


def _validate_slice_address(text: str, at: str, index: int, kind: str) -> Iterator[FieldError]:
    if kind == "FQDN":
        yield from _validate_domain(text, f"{at}[{index}]")
        return
    if kind not in _TYPES:
        return
    found = list(ip_address(text, f"{at}[{index}]"))
    yield from found
    if not found:
        if f"IPv{ipaddress.ip_address(text).version}" != kind:
            yield wrong(at, text, f"must be an {kind} address")
        yield from reachable(text, f"{at}[{index}]")


def _validate_domain(text: str, at: str) -> Iterator[FieldError]:
    name = text.removesuffix(".")
    if not text:
        yield required(at)
    elif explained := names.subdomain(name):
        yield wrong(at, name, ",".join(explained))
    elif "." not in name:
        why = "should be a domain with at least two segments separated by dots"
        yield wrong(at, name, why)


def _validate_hints(hints: Stored, at: str) -> Iterator[FieldError]:
    for name, check in (("forZones", names.label_value), ("forNodes", _node_name)):
        entries, where = hints.get(name) or (), f"{at}.{name}"
        if len(entries) > _MOST_HINTS:
            yield too_many(where, len(entries), _MOST_HINTS)
            return
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            value = entry.get("name", "")
            if value in seen:
                yield duplicate(f"{where}[{index}].name", value)
            seen.add(value)
            yield from formed(value, f"{where}[{index}].name", check)


def _node_name(name: str) -> tuple[str, ...]:
    return names.subdomain(name)


def fixed_slice(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another type of addresses, and what is wrong but for endpoints that stay."""
    found = validate_slice(new)
    if new.get("endpoints") == old.get("endpoints"):
        found = [one for one in found if not one.field.startswith("endpoints")]
    if new.get("addressType") != old.get("addressType"):
        found.append(wrong("addressType", new.get("addressType"), IMMUTABLE))
    return found
