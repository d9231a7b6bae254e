"""Validation of persistent volume claims, and what may change in one.

Source: Kubernetes API reference, PersistentVolumeClaimSpec; wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Mapping
from typing import Any

from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.rules.containers import NOT_NEGATIVE
from libs.domain import quantity_text

Object = dict[str, Any]
Stored = Mapping[str, Any]
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)


def validate(claim: Object) -> list[FieldError]:
    """Return what is wrong with a claim."""
    spec = claim["spec"]
    modes = spec.get("accessModes") or ()
    found: list[FieldError] = []
    if not modes:
        found.append(required("spec.accessModes", "at least 1 access mode is required"))
    found += [
        not_supported("spec.accessModes", mode, _MODES) for mode in modes if mode not in _MODES
    ]
    size = (spec.get("resources") or {}).get("requests", {}).get("storage")
    if size is None:
        found.append(required("spec.resources[storage]"))
    elif quantity_text.value(size) <= 0:
        found.append(
            wrong(
                "spec.resources[storage]",
                size,
                "must be greater than zero" if size == "0" else NOT_NEGATIVE,
            )
        )
    return found


def validate_update(new: Object, old: Stored) -> list[FieldError]:
    """Return which forbidden changes an update makes.

    A bound claim may grow, a volume is named once.
    """
    allowed = dict(old["spec"])
    for name in ("volumeName", "storageClassName"):
        if not allowed.get(name) and name in new["spec"]:
            allowed[name] = new["spec"][name]
    if old["status"].get("phase") == "Bound":
        allowed["resources"] = new["spec"].get("resources")
    if allowed != new["spec"]:
        return [not_allowed("spec", _FIXED)]
    before, after = (_size(claim) for claim in (old, new))
    if (
        before is not None
        and after is not None
        and quantity_text.value(after) < quantity_text.value(before)
    ):
        return [
            not_allowed(
                "spec.resources.requests.storage", "field can not be less than status.capacity"
            )
        ]
    return []


def _size(claim: Stored) -> str | None:
    size = (claim["spec"].get("resources") or {}).get("requests", {}).get("storage")
    return str(size) if size is not None else None
