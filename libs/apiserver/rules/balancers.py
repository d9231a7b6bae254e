"""Validation of where load balancers are reached, as reported of Services and Ingresses.

Source: Kubernetes API reference, LoadBalancerIngress, IngressLoadBalancerIngress; wordings as
recorded from kube-apiserver 1.36.
"""

import ipaddress
from collections.abc import Iterator
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, ip_address, one_of
from libs.apiserver.field_errors import FieldError, not_allowed, required, wrong

Object = dict[str, Any]
_AT = "status.loadBalancer.ingress"


def validate_of_service(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a Service."""
    places = _places(new)
    if places and new["spec"].get("type") != "LoadBalancer":
        return [not_allowed(_AT, "may only be used when `spec.type` is 'LoadBalancer'")]
    found: list[FieldError] = []
    known = _known(old)
    for index, place in enumerate(places):
        at = f"{_AT}[{index}]"
        found += _validate_address(place, at, known)
        found += _validate_mode(place, at)
        found += _validate_host(place, at)
    return found


def validate_of_ingress(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of an Ingress."""
    found: list[FieldError] = []
    known = _known(old)
    for index, place in enumerate(_places(new)):
        found += _validate_address(place, f"{_AT}[{index}]", known)
        found += _validate_host(place, f"{_AT}[{index}]")
    return found


def _places(obj: Stored) -> list[Object]:
    return (obj["status"].get("loadBalancer") or {}).get("ingress") or []


def _known(obj: Stored) -> frozenset[str]:
    """Return the addresses that were there before, which may stay whatever they are."""
    return frozenset(place.get("ip", "") for place in _places(obj))


def _validate_address(place: Stored, at: str, known: frozenset[str]) -> Iterator[FieldError]:
    if place.get("ip") and place["ip"] not in known:
        yield from ip_address(place["ip"], f"{at}.ip")


def _validate_mode(place: Stored, at: str) -> Iterator[FieldError]:
    if "ipMode" not in place:
        if place.get("ip"):
            yield required(f"{at}.ipMode", "must be specified when `ip` is set")
    elif not place.get("ip"):
        yield not_allowed(f"{at}.ipMode", "may not be specified when `ip` is not set")
    else:
        yield from one_of(place, at, "ipMode", ("Proxy", "VIP"))


def _validate_host(place: Stored, at: str) -> Iterator[FieldError]:
    host = place.get("hostname", "")
    if not host:
        return
    yield from formed(host, f"{at}.hostname", names.subdomain)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    yield wrong(f"{at}.hostname", host, "must be a DNS name, not an IP address")
