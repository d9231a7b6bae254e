"""Validation of persistent volume claims, and what may change in one.

Source: Kubernetes API reference, PersistentVolumeClaimSpec; wordings as recorded from
kube-apiserver 1.36.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import POSITIVE, formed_if_present, one_of, present
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.resources import is_native
from libs.apiserver.rules.selectors import validate_selector
from libs.apiserver.types.internal import difference
from libs.domain import quantity_text

Object = dict[str, Any]
Stored = Mapping[str, Any]
_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_RESIZE_STATES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_SOURCES = (
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
)
"""What the old style of naming a source can name."""

_FIXED = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)


def validate(claim: Object) -> list[FieldError]:
    """Return what is wrong with a claim."""
    return list(validate_spec(claim["spec"], "spec"))


def validate_spec(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the spec of a claim, be it in a template."""
    if not spec.get("accessModes"):
        yield required(f"{at}.accessModes", "at least 1 access mode is required")
    yield from validate_selector(spec.get("selector"), f"{at}.selector")
    yield from validate_modes(spec.get("accessModes") or (), f"{at}.accessModes")
    size = (spec.get("resources") or {}).get("requests", {}).get("storage")
    if size is None:
        yield required(f"{at}.resources[storage]")
    elif quantity_text.value(size) <= 0:
        yield wrong(f"{at}.resources[storage]", size, POSITIVE)
    yield from formed_if_present(spec, at, "storageClassName", names.subdomain)
    yield from one_of(spec, at, "volumeMode", ("Block", "Filesystem"))
    for name in ("dataSource", "dataSourceRef"):
        if name in spec:
            yield from _validate_source(spec[name], f"{at}.{name}")
    yield from _validate_pair(spec, at)
    yield from formed_if_present(spec, at, "volumeAttributesClassName", names.subdomain)


def settle_sources(spec: Object, old: Stored | None = None) -> None:
    """Drop an old-style source that it cannot be, and say the rest in the new style too.

    A claim that has a source, or names one in the new style, is left with what it says.
    """
    source = spec.get("dataSource")
    is_known = any(
        one.get(name) is not None
        for one, fields in (
            (old or {}, ("dataSource", "dataSourceRef")),
            (spec, ("dataSourceRef",)),
        )
        for name in fields
    )
    if source is not None and not is_known and _kind(source) not in _SOURCES:
        del spec["dataSource"]
    elif source is not None:
        spec.setdefault("dataSourceRef", dict(source))
    other = spec.get("dataSourceRef")
    if source is None and other is not None and not other.get("namespace"):
        spec["dataSource"] = {name: other[name] for name in other if name != "namespace"}


def _kind(source: Stored) -> tuple[str, str]:
    return source.get("apiGroup") or "", source.get("kind", "")


def validate_modes(modes: Sequence[str], at: str) -> Iterator[FieldError]:
    """Yield the access modes that there are not, and those that exclude each other."""
    for mode in modes:
        if mode not in _MODES:
            yield not_supported(at, mode, _MODES)
    known = {mode for mode in modes if mode in _MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield not_allowed(at, "may not use ReadWriteOncePod with other access modes")


def _validate_source(source: Stored, at: str) -> Iterator[FieldError]:
    yield from present(source, at, "name", "kind")
    group, kind = source.get("apiGroup", ""), source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield wrong(at, kind, why)
    yield from formed_if_present(source, at, "apiGroup", names.subdomain)
    yield from formed_if_present(source, at, "namespace", names.label)


def _validate_pair(spec: Stored, at: str) -> Iterator[FieldError]:
    source, other = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is None or other is None:
        return
    # Kubernetes shows the path of the field, which prints as an empty object.
    if other.get("namespace"):
        why = "may not be specified when dataSourceRef.namespace is specified"
        yield wrong(at, {}, why)
    elif any(source.get(name) != other.get(name) for name in ("apiGroup", "kind", "name")):
        yield wrong(at, {}, "must match dataSourceRef")


def validate_update(new: Object, old: Stored) -> list[FieldError]:
    """Return which forbidden changes an update makes.

    A bound claim may grow, a volume is named once.
    """
    before, after = dict(old["spec"]), dict(new["spec"])
    if not before.get("volumeName") and "volumeName" in after:
        before["volumeName"] = after["volumeName"]
    if new["status"].get("phase") == "Bound":
        after = _as_bound(after, before)
    found: list[FieldError] = []
    if after != before:
        shown = difference("core/v1.PersistentVolumeClaimSpec", before, after)
        found.append(not_allowed("spec", f"{_FIXED}\n{shown}"))
    sizes = _size(old), _size(new)
    granted = quantity_text.value((old["status"].get("capacity") or {}).get("storage", "0"))
    if sizes[1] < sizes[0] and sizes[1] <= granted:
        at, why = "spec.resources.requests.storage", "field can not be less than status.capacity"
        found.append(not_allowed(at, why))
    if new["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
        found.append(wrong("volumeMode", new["spec"].get("volumeMode"), IMMUTABLE))
    return found


def validate_status(new: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a claim."""
    status = new["status"]
    found = list(_validate_amounts(status.get("capacity") or {}, "status.capacity"))
    at = "status.allocatedResourceStatuses"
    for name, state in (status.get("allocatedResourceStatuses") or {}).items():
        found += _resource_key(name, at)
        if state not in _RESIZE_STATES:
            found.append(not_supported(at, name, _RESIZE_STATES))
    at = "status.allocatedResources"
    for name, text in (status.get("allocatedResources") or {}).items():
        found += list(_resource_key(name, at)) or _validate_amounts({name: text}, at)
    return found


def _resource_key(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of what a claim gets: storage, or somebody's own."""
    faults = names.qualified_name(name)
    yield from (wrong(at, name, why) for why in faults)
    if not faults and is_native(name) and name != "storage":
        yield not_supported(at, name, ("storage",))


def _validate_amounts(amounts: Mapping[str, str], at: str) -> Iterator[FieldError]:
    for name, text in amounts.items():
        amount = math.ceil(quantity_text.value(text))
        if amount < 0:
            yield wrong(f"{at}[{name}]", amount, "must be a valid resource quantity")


def _as_bound(after: Object, before: Stored) -> Object:
    """Return a spec without what may change in a claim that has its volume."""
    kept = {**after, "volumeAttributesClassName": before.get("volumeAttributesClassName")}
    if kept["volumeAttributesClassName"] is None:
        del kept["volumeAttributesClassName"]
    requests = (after.get("resources") or {}).get("requests")
    size = ((before.get("resources") or {}).get("requests") or {}).get("storage")
    if requests is not None and size is not None:
        kept["resources"] = {**after["resources"], "requests": {**requests, "storage": size}}
    return kept


def _size(claim: Stored) -> Decimal:
    size = (claim["spec"].get("resources") or {}).get("requests", {}).get("storage", "0")
    return quantity_text.value(str(size))
