"""The ResourceClaims of a pod, what they ask for, and what all allocated claims hold."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from libs.domain.quantity import parse
from libs.oracle.devices.inventory import DeviceId
from libs.oracle.objects import (
    KubeObject,
    key_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)

MOST_DEVICES = 32
"""Devices that one claim may be given."""

MOST_CONSUMERS = 256
"""Pods that may share a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One way to satisfy a request."""

    claim: str
    """`namespace/name`."""
    request: str
    """Name of the request, without that of the alternative."""
    name: str
    """`request`, or `request/alternative`."""
    device_class: str
    selectors: tuple[str, ...]
    count: int
    all: bool
    """Every device that the selectors match, rather than `count` of them."""
    admin: bool
    """Whether it looks at devices that others use, too."""
    tolerations: tuple[KubeObject, ...]
    capacity: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the allocated claims of the cluster hold."""

    devices: frozenset[DeviceId]
    """Those that one claim has for itself."""
    shares: Mapping[DeviceId, Mapping[str, Fraction]]
    """What is consumed of those that are shared."""


def claim_names(pod: KubeObject) -> Iterator[tuple[str, str | None, bool]]:
    """Yield, for each reference of the pod, its name, the claim's name and whether it is made.

    The claim's name is None if it is to be made from a template and is not there yet; references
    that need no claim are left out.
    """
    statuses = {
        one["name"]: one.get("resourceClaimName")
        for one in status_of(pod).get("resourceClaimStatuses") or ()
    }
    for reference in spec_of(pod).get("resourceClaims") or ():
        name = reference["name"]
        if reference.get("resourceClaimName"):
            yield name, reference["resourceClaimName"], False
        elif name not in statuses:
            yield name, None, True
        elif statuses[name] is not None:
            yield name, statuses[name], True


def allocation_of(claim: KubeObject) -> KubeObject | None:
    """Return what the claim was given, None if nothing yet."""
    found: KubeObject | None = status_of(claim).get("allocation")
    return found


def is_reserved_for(claim: KubeObject, pod: KubeObject) -> bool:
    """Tell whether the pod is among the claim's consumers."""
    uid = metadata_of(pod).get("uid")
    return any(
        one.get("uid") == uid if uid else one.get("name") == name_of(pod)
        for one in status_of(claim).get("reservedFor") or ()
    )


def is_owned_by(claim: KubeObject, pod: KubeObject) -> bool:
    """Tell whether the claim was made for this pod."""
    return namespace_of(claim) == namespace_of(pod) and any(
        owner.get("controller") and owner.get("uid") == metadata_of(pod).get("uid")
        for owner in metadata_of(claim).get("ownerReferences") or ()
    )


def requests_of(claim: KubeObject) -> list[tuple[Ask, ...]]:
    """Return, for each request of the claim in order, the ways to satisfy it, the best first."""
    devices = spec_of(claim).get("devices") or {}
    found: list[tuple[Ask, ...]] = []
    for request in devices.get("requests") or ():
        own = request["name"]
        if request.get("exactly") is not None:
            found.append((_ask(claim, own, own, request["exactly"]),))
        else:
            alternatives = request.get("firstAvailable") or ()
            found.append(
                tuple(_ask(claim, own, f"{own}/{one['name']}", one) for one in alternatives)
            )
    return found


def constraints_of(claim: KubeObject) -> tuple[KubeObject, ...]:
    """Return the constraints among the claim's devices."""
    return tuple((spec_of(claim).get("devices") or {}).get("constraints") or ())


def held(claims: Iterable[KubeObject]) -> Held:
    """Return what the claims hold; devices looked at with admin access are not held."""
    devices: set[DeviceId] = set()
    shares: dict[DeviceId, dict[str, Fraction]] = {}
    for claim in claims:
        for one in results_of(claim):
            device = DeviceId(one["driver"], one["pool"], one["device"])
            if one.get("adminAccess"):
                continue
            if one.get("shareID") is None:
                devices.add(device)
                continue
            consumed = shares.setdefault(device, {})
            for name, amount in (one.get("consumedCapacity") or {}).items():
                consumed[name] = consumed.get(name, Fraction(0)) + parse(amount)
    return Held(devices=frozenset(devices), shares=shares)


def results_of(claim: KubeObject) -> Iterator[KubeObject]:
    """Yield the devices that the claim was given."""
    yield from ((allocation_of(claim) or {}).get("devices") or {}).get("results") or ()


def _ask(claim: KubeObject, request: str, name: str, spec: KubeObject) -> Ask:
    return Ask(
        claim=key_of(claim),
        request=request,
        name=name,
        device_class=spec.get("deviceClassName") or "",
        selectors=selectors_of(spec),
        count=int(spec.get("count") or 1),
        all=spec.get("allocationMode") == "All",
        admin=bool(spec.get("adminAccess")),
        tolerations=tuple(spec.get("tolerations") or ()),
        capacity=(spec.get("capacity") or {}).get("requests") or {},
    )


def selectors_of(spec: KubeObject) -> tuple[str, ...]:
    """Return the CEL expressions of a request or of a device class."""
    return tuple(one["cel"]["expression"] for one in spec.get("selectors") or ())
