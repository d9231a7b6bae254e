"""Validation of which devices a claim has got, who holds them, and what drivers say of them.

Source: Kubernetes API reference, ResourceClaimStatus; order and wordings as recorded from
kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, ip_interface, needed_one_of, present
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
from libs.apiserver.rules.conditions import validate_conditions
from libs.apiserver.rules.device_names import pool_name
from libs.apiserver.rules.devices import (
    Requests,
    each,
    names_of,
    validate_config,
    validate_reference,
    validate_references,
)
from libs.apiserver.rules.selectors import validate_node_selector
from libs.apiserver.rules.volumes import csi_driver_name
from libs.apiserver.types.internal import internal

Object = dict[str, Any]
_MOST_CONSUMERS, _MOST_RESULTS, _MOST_CONFIGS = 256, 32, 64
_MOST_CONDITIONS, _MOST_ADDRESSES, _LONGEST_NAME, _LONGEST_HARDWARE = 8, 16, 256, 128
_SOURCES = ("FromClaim", "FromClass")
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NO_UUID = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)
_Device = tuple[str, str, str, str]
"""Driver, pool, device and share."""

_OPAQUE: Mapping[str, Any] = {
    "Driver": {},
    "Pool": {},
    "Device": {},
    "ShareID": {},
}
"""What Kubernetes shows of a device, as the names in it do not print."""


def validate(new: Object, old: Stored) -> list[FieldError]:
    """Return what is wrong with the status of a ResourceClaim."""
    status, before = new["status"], old["status"]
    allocation = status.get("allocation")
    found = list(_validate_consumers(status.get("reservedFor") or ()))
    found += _validate_devices(status)
    if status.get("reservedFor"):
        found += _validate_holding(new, before)
    if allocation is not None and before.get("allocation") is not None:
        if allocation != before["allocation"]:
            shown = internal("resource/v1.AllocationResult", allocation)
            found.append(wrong("status.allocation", shown, IMMUTABLE))
    elif allocation is not None:
        known = names_of((new["spec"].get("devices") or {}).get("requests") or ())
        found += _validate_allocation(allocation, "status.allocation", known)
    return found


def drop_deallocated(new: Object, old: Stored) -> None:
    """Drop what drivers say of devices that the claim has no longer."""
    status = new["status"]
    gone = _allocated(old["status"]) - _allocated(status)
    kept = [one for one in status.get("devices") or () if _device_of(one) not in gone]
    if kept:
        status["devices"] = kept
    else:
        status.pop("devices", None)


def _allocated(status: Stored) -> frozenset[_Device]:
    allocation = status.get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    return frozenset(_device_of(result) for result in results)


def _device_of(entry: Stored) -> _Device:
    return (
        entry.get("driver", ""),
        entry.get("pool", ""),
        entry.get("device", ""),
        entry.get("shareID") or "",
    )


def _validate_consumers(consumers: Sequence[Stored]) -> Iterator[FieldError]:
    def check(consumer: Stored, at: str) -> Iterator[FieldError]:
        yield from present(consumer, at, "resource", "name", "uid")

    def uid(consumer: Stored) -> str:
        return str(consumer.get("uid", ""))

    yield from each(consumers, "status.reservedFor", _MOST_CONSUMERS, check, uid)


def _validate_holding(new: Object, before: Stored) -> Iterator[FieldError]:
    status, at = new["status"], "status.reservedFor"
    if status.get("allocation") is None:
        yield not_allowed(at, "may not be specified when `allocated` is not set")
    elif new["metadata"].get("deletionTimestamp"):
        known = before.get("reservedFor") or ()
        if any(consumer not in known for consumer in status["reservedFor"]):
            why = (
                "new entries may not be added while `deallocationRequested` or "
                "`deletionTimestamp` are set"
            )
            yield not_allowed(at, why)


def _validate_devices(status: Stored) -> Iterator[FieldError]:
    allocated = _allocated(status)
    seen: set[_Device] = set()
    entries = status.get("devices") or ()
    for index, entry in enumerate(entries):
        yield from _validate_device(entry, f"status.devices[{index}]", allocated)
    for index, entry in enumerate(entries):
        device = _device_of(entry)
        if device in seen:
            yield duplicate(f"status.devices[{index}]", _OPAQUE)
        seen.add(device)


def _validate_device(entry: Stored, at: str, allocated: frozenset[_Device]) -> Iterator[FieldError]:
    yield from _validate_names(entry, at)
    if _device_of(entry) not in allocated:
        yield wrong(at, _OPAQUE, "must be an allocated device in the claim")
    conditions = entry.get("conditions") or ()
    if len(conditions) > _MOST_CONDITIONS:
        yield too_many(f"{at}.conditions", len(conditions), _MOST_CONDITIONS)
    yield from validate_conditions(conditions, f"{at}.conditions")
    if "data" in entry:
        yield from _validate_data(entry["data"], f"{at}.data")
    yield from _validate_network(entry.get("networkData") or {}, f"{at}.networkData")


def _validate_names(entry: Stored, at: str) -> Iterator[FieldError]:
    yield from csi_driver_name(entry.get("driver", ""), f"{at}.driver")
    yield from pool_name(entry.get("pool", ""), f"{at}.pool")
    yield from formed(entry.get("device", ""), f"{at}.device", names.label)
    share = entry.get("shareID")
    if share is not None and not _UUID.fullmatch(share):
        yield wrong(f"{at}.shareID", share, _NO_UUID)


def _validate_data(data: Any, at: str) -> Iterator[FieldError]:
    if data is None:
        yield required(at)
    elif not isinstance(data, dict):
        yield wrong(at, "<value omitted>", "must be a valid JSON object")


def _validate_network(network: Stored, at: str) -> Iterator[FieldError]:
    if len(network.get("interfaceName", "")) > _LONGEST_NAME:
        yield too_long(f"{at}.interfaceName", _LONGEST_NAME)
    if len(network.get("hardwareAddress", "")) > _LONGEST_HARDWARE:
        yield too_long(f"{at}.hardwareAddress", _LONGEST_HARDWARE)
    yield from each(network.get("ips") or (), f"{at}.ips", _MOST_ADDRESSES, ip_interface, str)


def _validate_allocation(allocation: Stored, at: str, known: Requests) -> Iterator[FieldError]:
    devices = allocation.get("devices") or {}
    results, configs = devices.get("results") or (), devices.get("config") or ()
    for name, items, most in (
        ("results", results, _MOST_RESULTS),
        ("config", configs, _MOST_CONFIGS),
    ):
        where = f"{at}.devices.{name}"
        if len(items) > most:
            yield too_many(where, len(items), most)
            continue
        check = _validate_result if name == "results" else _validate_given
        for index, item in enumerate(items):
            yield from check(item, f"{where}[{index}]", known)
    if "nodeSelector" in allocation:
        yield from validate_node_selector(allocation["nodeSelector"], f"{at}.nodeSelector")


def _validate_result(result: Stored, at: str, known: Requests) -> Iterator[FieldError]:
    yield from validate_reference(result.get("request", ""), f"{at}.request", known)
    yield from _validate_names(result, at)


def _validate_given(config: Stored, at: str, known: Requests) -> Iterator[FieldError]:
    yield from needed_one_of(config, at, "source", _SOURCES)
    yield from validate_references(config.get("requests") or (), f"{at}.requests", known)
    yield from validate_config(config, at)
