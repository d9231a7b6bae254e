"""Validation of nodes: taints, addresses of pods, amounts.

Source: Kubernetes API reference, NodeSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import ip_network
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    shown,
    wrong,
)
from libs.apiserver.rules.resources import validate_quantity
from libs.apiserver.rules.scheduling import EFFECTS
from libs.apiserver.types.internal import internal

Object = dict[str, Any]
Stored = Mapping[str, Any]


def validate(node: Object) -> list[FieldError]:
    """Return what is wrong with a node."""
    spec = node["spec"]
    found = list(_validate_taints(spec.get("taints") or ()))
    for index, network in enumerate(spec.get("podCIDRs") or ()):
        found += ip_network(network, f"spec.podCIDRs[{index}]")
    networks = spec.get("podCIDRs") or ()
    families = {":" in network for network in networks}
    if len(networks) > len(families):
        why = "may specify no more than one CIDR for each IP family"
        found.append(wrong("spec.podCIDRs", networks, why))
    found += _validate_amounts(node)
    return [*found, *_validate_features(node["status"].get("declaredFeatures") or ())]


def validate_update(node: Object, old: Stored) -> list[FieldError]:
    """Return which forbidden changes an update makes.

    Taints are looked at a second time, as Kubernetes does.
    """
    after, before = node["spec"], old["spec"]
    found = list(_validate_networks(after.get("podCIDRs") or (), before.get("podCIDRs") or ()))
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        why = 'node updates may not change providerID except from "" to valid'
        found.append(not_allowed("spec.providerID", why))
    found += _validate_taints(after.get("taints") or ())
    if after.get("externalID") != before.get("externalID"):
        found.append(not_allowed("spec.externalID", "may not be updated"))
    return found


def _validate_networks(after: Sequence[str], before: Sequence[str]) -> Iterator[FieldError]:
    """Yield each network of pods that is taken from a node, or all at once if their number is."""
    changed = sum(1 for new, old in zip(after, before, strict=False) if new != old)
    if before and len(after) != len(before):
        changed = 1
    why = 'node updates may not change podCIDR except from "" to valid'
    yield from [not_allowed("spec.podCIDRs", why)] * (changed if before else 0)


def validate_status(node: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with a node's status."""
    status = node["status"]
    found = [*_validate_amounts(node), *_validate_features(status.get("declaredFeatures") or ())]
    addresses = status.get("addresses") or ()
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            shown_address = internal("core/v1.NodeAddress", address)
            found.append(duplicate(f"status.addresses[{index}]", shown_address))
    return found


def _validate_amounts(node: Object) -> Iterator[FieldError]:
    for side in ("capacity", "allocatable"):
        for name, text in (node["status"].get(side) or {}).items():
            yield from validate_quantity(name, text, f"status.{side}.{name}")


def _validate_features(features: Sequence[str]) -> Iterator[FieldError]:
    """Yield features that a node declares twice or out of order."""
    at = "status.declaredFeatures"
    for index, (one, following) in enumerate(pairwise(features), 1):
        if one == following:
            yield duplicate(f"{at}[{index}]", following)
        elif one > following:
            yield wrong(f"{at}[{index}]", following, "list must be sorted alphabetically")


def _validate_taints(taints: Sequence[Stored]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at = f"metadata.taints[{index}]"
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        yield from (wrong(f"{at}.key", key, why) for why in names.qualified_name(key))
        yield from (wrong(f"{at}.value", value, why) for why in names.label_value(value))
        if not effect:
            yield required(f"{at}.effect")
        elif effect not in EFFECTS:
            yield not_supported(f"{at}.effect", effect, EFFECTS)
        if (key, effect) in seen:
            added = taint.get("timeAdded")
            repeated = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": added}
            message = (
                f"Duplicate value: {shown(repeated)}: taints must be unique by key and effect pair"
            )
            yield FieldError("FieldValueDuplicate", message, at)
        seen.add((key, effect))
