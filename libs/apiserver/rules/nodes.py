"""Validation of nodes: taints, addresses of pods, amounts.

Source: Kubernetes API reference, NodeSpec; order and wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import NOT_NEGATIVE, ip_network
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    shown,
    wrong,
)
from libs.apiserver.rules.scheduling import EFFECTS
from libs.domain import quantity_text

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
    return found + list(_validate_amounts(node))


def validate_update(node: Object, old: Stored) -> list[FieldError]:
    """Return which forbidden changes an update makes.

    Taints are looked at a second time, as Kubernetes does.
    """
    found = list(_validate_taints(node["spec"].get("taints") or ()))
    before, after = old["spec"].get("providerID"), node["spec"].get("providerID")
    if before and after != before:
        why = 'node updates may not change providerID except from "" to valid'
        found.append(not_allowed("spec.providerID", why))
    return found


def validate_status(node: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with a node's status."""
    return list(_validate_amounts(node))


def _validate_amounts(node: Object) -> Iterator[FieldError]:
    for side in ("capacity", "allocatable"):
        for name, text in (node["status"].get(side) or {}).items():
            if quantity_text.value(text) < 0:
                yield wrong(f"status.{side}.{name}", text, NOT_NEGATIVE)


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
