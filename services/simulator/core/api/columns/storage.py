"""The columns of volumes, their classes and drivers, and of devices.

Source: what `kubectl get` shows of a Kubernetes 1.36 cluster.
"""

from collections.abc import Iterable
from datetime import datetime

from services.simulator.core.api.columns.column import (
    AGE,
    NAME,
    NONE,
    Cell,
    Column,
    Object,
    at,
    column,
    count_of,
    joined,
    with_default,
)

_CLASS = "volume.beta.kubernetes.io/storage-class"
_SHORT = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}
"""Short names of access modes, in the order in which they are shown."""


def _modes(modes: Iterable[str]) -> str:
    there = set(modes)
    return ",".join(short for mode, short in _SHORT.items() if mode in there)


def _class_of(obj: Object, _now: datetime) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    return annotations.get(_CLASS) or obj["spec"].get("storageClassName") or ""


def _phase(obj: Object, _now: datetime) -> str:
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    return obj.get("status", {}).get("phase") or ""


def _claim_of(volume: Object, _now: datetime) -> str:
    claim = volume["spec"].get("claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _if_bound(read: Cell, absent: str) -> Cell:
    return lambda claim, now: read(claim, now) if claim["spec"].get("volumeName") else absent


def _flag(path: str, *, default: bool = False) -> Cell:
    read = at(path, None)

    def cell(obj: Object, now: datetime) -> bool:
        found = read(obj, now)
        return default if found is None else bool(found)

    return cell


def _audiences(driver: Object, _now: datetime) -> str:
    requests = driver["spec"].get("tokenRequests")
    return "<unset>" if requests is None else ",".join(one["audience"] for one in requests)


def _claim_state(claim: Object, _now: datetime) -> str:
    status, leaving = claim.get("status") or {}, "deletionTimestamp" in claim["metadata"]
    states = ["deleted"] if leaving else []
    if "allocation" in status:
        states += ["allocated", *(["reserved"] if status.get("reservedFor") else [])]
    elif not leaving:
        states.append("pending")
    return ",".join(states)


_ATTRIBUTES = column("VolumeAttributesClass", at("spec.volumeAttributesClassName", "<unset>"))
_MODE = column("VolumeMode", at("spec.volumeMode", "<unset>"), priority=1)

CLAIMS = (
    NAME,
    column("Status", _phase),
    column("Volume", at("spec.volumeName", "")),
    column("Capacity", _if_bound(at("status.capacity.storage", "0"), "")),
    column(
        "Access Modes",
        _if_bound(lambda one, _now: _modes(one.get("status", {}).get("accessModes") or ()), ""),
    ),
    column("StorageClass", _class_of),
    _ATTRIBUTES,
    AGE,
    _MODE,
)
VOLUMES = (
    NAME,
    column("Capacity", at("spec.capacity.storage", "0")),
    column("Access Modes", lambda one, _now: _modes(one["spec"].get("accessModes") or ())),
    column("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy", "")),
    column("Status", _phase),
    column("Claim", _claim_of),
    column("StorageClass", _class_of),
    _ATTRIBUTES,
    column("Reason", at("status.reason", "")),
    AGE,
    _MODE,
)
CLASSES = (
    Column(
        name="Name",
        cell=with_default("storageclass.kubernetes.io/is-default-class"),
        format="name",
    ),
    column("Provisioner", at("provisioner", "")),
    column("ReclaimPolicy", at("reclaimPolicy", "Delete")),
    column("VolumeBindingMode", at("volumeBindingMode", "Immediate")),
    column("AllowVolumeExpansion", _flag("allowVolumeExpansion")),
    AGE,
)
ATTRIBUTES_CLASSES = (NAME, column("DriverName", at("driverName", "")), AGE)
ATTACHMENTS = (
    NAME,
    Column(name="Attacher", cell=at("spec.attacher", ""), format="name"),
    column("PV", at("spec.source.persistentVolumeName", "")),
    column("Node", at("spec.nodeName", "")),
    column("Attached", _flag("status.attached"), "boolean"),
    AGE,
)
CSI_NODES = (NAME, column("Drivers", count_of("spec.drivers"), "integer"), AGE)
CSI_DRIVERS = (
    NAME,
    column("AttachRequired", _flag("spec.attachRequired", default=True), "boolean"),
    column("PodInfoOnMount", _flag("spec.podInfoOnMount"), "boolean"),
    column("StorageCapacity", _flag("spec.storageCapacity"), "boolean"),
    column("TokenRequests", _audiences),
    column("RequiresRepublish", _flag("spec.requiresRepublish"), "boolean"),
    column("Modes", joined(lambda one: one["spec"].get("volumeLifecycleModes") or (), NONE)),
    AGE,
)
RESOURCE_CLAIMS = (NAME, column("State", _claim_state), AGE)
RESOURCE_SLICES = (
    NAME,
    column("Node", at("spec.nodeName", "")),
    column("Driver", at("spec.driver", "")),
    column("Pool", at("spec.pool.name", "")),
    AGE,
)
