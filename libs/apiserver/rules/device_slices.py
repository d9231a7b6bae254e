"""Validation of what drivers offer: slices of pools of devices.

Source: Kubernetes API reference, ResourceSliceSpec; wordings as recorded from kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, needed_one_of, present_and_formed
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    required,
    too_long,
    too_many,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.device_names import pool_name, qualified
from libs.apiserver.rules.selectors import validate_node_selector
from libs.apiserver.rules.volumes import csi_driver_name

Object = dict[str, Any]
_MOST_DEVICES, _MOST_ODD_DEVICES, _MOST_TAINTS, _MOST_NAMES = 128, 64, 16, 32
_LONGEST_VALUE = 64
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_OWN_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_OWN_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)
_ONE_VALUE = "exactly one value must be specified"
_SEMANTIC = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ResourceSlice."""
    spec = obj["spec"]
    found = list(csi_driver_name(spec.get("driver", ""), "spec.driver"))
    found += _validate_pool(spec.get("pool") or {}, "spec.pool")
    found += _validate_places(spec)
    if "sharedCounters" in spec and "devices" in spec:
        why = "only one of `sharedCounters` or `devices` is allowed"
        found.append(wrong("spec", "", why))
    found += _validate_devices(spec)
    return [*found, *_validate_counter_sets(spec.get("sharedCounters") or ())]


def _validate_pool(pool: Stored, at: str) -> Iterator[FieldError]:
    yield from pool_name(pool.get("name", ""), f"{at}.name")
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        yield wrong(f"{at}.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        yield wrong(f"{at}.generation", generation, "must be greater than or equal to zero")


def _validate_places(spec: Stored) -> Iterator[FieldError]:
    if spec.get("nodeName") == "":
        why = "must be either unset or set to a non-empty string"
        yield wrong("spec.nodeName", "", why)
    elif "nodeName" in spec:
        yield from formed(spec["nodeName"], "spec.nodeName", names.subdomain)
    if "nodeSelector" in spec:
        at, selector = "spec.nodeSelector", spec["nodeSelector"]
        yield from validate_node_selector(selector, at)
        terms = selector.get("nodeSelectorTerms") or ()
        if len(terms) != 1:
            why = "must have exactly one node selector term"
            yield wrong(f"{at}.nodeSelectorTerms", selector.get("nodeSelectorTerms"), why)
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            yield wrong(f"spec.{name}", False, "must be either unset or set to true")
    said = [f"`{name}`" for name in _PLACES if spec.get(name)]
    if not said:
        yield required("spec", _ONE_PLACE)
    elif len(said) > 1:
        shown = f"{{{', '.join(said)}}}"
        yield wrong("spec", shown, f"{_ONE_PLACE}, but multiple fields are set")


def _validate_devices(spec: Stored) -> Iterator[FieldError]:
    devices = spec.get("devices") or ()
    is_odd = any(device.get("taints") or device.get("consumesCounters") for device in devices)
    most = _MOST_ODD_DEVICES if is_odd else _MOST_DEVICES
    if len(devices) > most:
        yield too_many("spec.devices", len(devices), most)
        return
    own_places = bool(spec.get("perDeviceNodeSelection"))
    for index, device in enumerate(devices):
        yield from _validate_device(device, f"spec.devices[{index}]", own_places)
    yield from _repeated(devices, "spec.devices", "name")


def _repeated(items: Sequence[Stored], at: str, key: str) -> Iterator[FieldError]:
    keys = [item.get(key, "") for item in items]
    for index, name in enumerate(keys):
        if name in keys[:index]:
            yield duplicate(f"{at}[{index}]", name)


def _validate_device(device: Stored, at: str, own_places: bool) -> Iterator[FieldError]:
    yield from formed(device.get("name", ""), f"{at}.name", names.label)
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > _MOST_NAMES:
        why = f"the total number of attributes and capacities must not exceed {_MOST_NAMES}"
        yield wrong(at, count, why)
    for name, value in attributes.items():
        where = f"{at}.attributes[{name}]"
        yield from qualified(name, f"{at}.attributes")
        yield from _validate_attribute(value, where)
    for name, value in capacity.items():
        yield from qualified(name, f"{at}.capacity")
        if "requestPolicy" in value and not device.get("allowMultipleAllocations"):
            where = f"{at}.capacity[{name}].requestPolicy"
            yield not_allowed(where, "allowMultipleAllocations must be true")
    taints = device.get("taints") or ()
    if len(taints) > _MOST_TAINTS:
        yield too_many(f"{at}.taints", len(taints), _MOST_TAINTS)
    for index, taint in enumerate(taints):
        yield from _validate_taint(taint, f"{at}.taints[{index}]")
    yield from _validate_consumed(device.get("consumesCounters") or (), f"{at}.consumesCounters")
    yield from _validate_own_place(device, at, own_places)


def _validate_attribute(attribute: Stored, at: str) -> Iterator[FieldError]:
    if "version" in attribute and not _SEMANTIC.fullmatch(attribute["version"]):
        why = "must be a string compatible with semver.org spec 2.0.0"
        yield wrong(f"{at}.version", attribute["version"], why)
    for name in ("string", "version"):
        if len(attribute.get(name, "")) > _LONGEST_VALUE:
            yield too_long(f"{at}.{name}", _LONGEST_VALUE)
    if not attribute:
        yield wrong(at, "", _ONE_VALUE)
    elif len(attribute) > 1:
        yield wrong(at, _internal(attribute), _ONE_VALUE)


def _internal(attribute: Stored) -> dict[str, Any]:
    kinds = ("int", "bool", "string", "version", "ints", "bools", "strings", "versions")
    shown = {f"{kind.removesuffix('s').capitalize()}Value": kind for kind in kinds[:4]}
    shown |= {f"{kind.removesuffix('s').capitalize()}Values": kind for kind in kinds[4:]}
    return {name: attribute.get(kind) for name, kind in shown.items()}


def _validate_taint(taint: Stored, at: str) -> Iterator[FieldError]:
    yield from formed(taint.get("key", ""), f"{at}.key", names.qualified_name)
    yield from formed(taint.get("value", ""), f"{at}.value", names.label_value)
    yield from needed_one_of(taint, at, "effect", _EFFECTS)


def _validate_own_place(device: Stored, at: str, own_places: bool) -> Iterator[FieldError]:
    said = [name for name in _PLACES[:3] if name in device]
    if not own_places:
        if said:
            yield wrong(at, None, _NO_OWN_PLACE)
        return
    if device.get("nodeName") == "":
        yield wrong(f"{at}.nodeName", "", "must not be empty")
    elif "nodeName" in device:
        yield from formed(device["nodeName"], f"{at}.nodeName", names.subdomain)
    if "nodeSelector" in device:
        yield from validate_node_selector(device["nodeSelector"], f"{at}.nodeSelector")
    if device.get("allNodes") is False:
        yield wrong(f"{at}.allNodes", False, "must be either unset or set to true")
    said = [f"`{name}`" for name in said if device[name]]
    if not said:
        yield required(at, _OWN_PLACE)
    elif len(said) > 1:
        yield wrong(at, f"{{{', '.join(said)}}}", _OWN_PLACE)


def _validate_consumed(entries: Sequence[Stored], at: str) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        where = f"{at}[{index}]"
        yield from present_and_formed(entry, where, "counterSet", names.label)
        yield from _validate_counters(entry.get("counters") or {}, f"{where}.counters")
    yield from _repeated(entries, at, "counterSet")


def _validate_counter_sets(sets: Sequence[Stored]) -> Iterator[FieldError]:
    for index, entry in enumerate(sets):
        at = f"spec.sharedCounters[{index}]"
        yield from present_and_formed(entry, at, "name", names.label)
        yield from _validate_counters(entry.get("counters") or {}, f"{at}.counters")
    yield from _repeated(sets, "spec.sharedCounters", "name")


def _validate_counters(counters: Stored, at: str) -> Iterator[FieldError]:
    if not counters:
        yield required(at)
    for name in counters:
        yield from formed(name, at, names.label)


def fixed(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another pool, driver or node of a slice."""
    after, before = new["spec"], old["spec"]
    found: list[FieldError] = []
    name = (after.get("pool") or {}).get("name")
    if name != (before.get("pool") or {}).get("name"):
        found.append(wrong("spec.pool.name", name, IMMUTABLE))
    return found + [
        wrong(f"spec.{field}", after.get(field), IMMUTABLE)
        for field in ("driver", "nodeName")
        if after.get(field) != before.get(field)
    ]
