"""Validation of persistent volumes, of their own and within attachments.

Source: Kubernetes API reference, PersistentVolumeSpec; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    POSITIVE,
    Stored,
    formed,
    formed_if_present,
    no_backsteps,
    one_of,
    present,
    present_and_formed,
)
from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.claims import validate_modes
from libs.apiserver.rules.selectors import validate_node_selector
from libs.apiserver.rules.volumes import PERSISTENT, Check, csi_driver_name
from libs.apiserver.types.internal import difference, internal
from libs.domain import quantity_text

Object = dict[str, Any]
_POLICIES = ("Delete", "Recycle", "Retain")
_INLINE = "in the context of inline volumes"
_SECRETS = (
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
)


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a persistent volume."""
    return list(_validate_spec(obj["spec"]))


def _validate_spec(spec: Stored) -> Iterator[FieldError]:
    yield from present(spec, "spec", "accessModes")
    yield from validate_modes(spec.get("accessModes") or (), "spec.accessModes")
    yield from _validate_capacity(spec.get("capacity") or {}, "spec.capacity")
    if spec.get("persistentVolumeReclaimPolicy"):
        yield from one_of(spec, "spec", "persistentVolumeReclaimPolicy", _POLICIES)
    if "nodeAffinity" in spec:
        yield from _validate_affinity(spec["nodeAffinity"], "spec.nodeAffinity")
    yield from _validate_sources(spec, "spec")
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle" and _is_root(spec):
        why = "may not be 'recycle' for a hostPath mount of '/'"
        yield not_allowed("spec.persistentVolumeReclaimPolicy", why)
    if "local" in spec and not (spec.get("nodeAffinity") or {}).get("required"):
        yield required("spec.nodeAffinity", "Local volume requires node affinity")
    yield from formed_if_present(spec, "spec", "storageClassName", names.subdomain)
    yield from one_of(spec, "spec", "volumeMode", ("Block", "Filesystem"))
    if "volumeAttributesClassName" in spec:
        yield from _validate_class(spec)


def _is_root(spec: Stored) -> bool:
    path = (spec.get("hostPath") or {}).get("path", "")
    return path.startswith("/") and set(path.split("/")) <= {"", "."}


def _validate_class(spec: Stored) -> Iterator[FieldError]:
    at, name = "spec.volumeAttributesClassName", spec["volumeAttributesClassName"]
    if not name:
        yield required(at, "an empty string is disallowed")
    else:
        yield from formed(name, at, names.subdomain)
    if "csi" not in spec:
        why = "has to be specified when using volumeAttributesClassName"
        yield required("spec.csi", why)


def _validate_capacity(capacity: Mapping[str, str], at: str) -> Iterator[FieldError]:
    if not capacity:
        yield required(at)
    if "storage" not in capacity or len(capacity) > 1:
        yield not_supported(at, dict(sorted(capacity.items())) or None, ("storage",))
    for name, text in capacity.items():
        number = quantity_text.value(text)
        if number < 0:
            whole = int(number.to_integral_value(rounding="ROUND_FLOOR"))
            yield wrong(f"{at}[{name}]", whole, "must be a valid resource quantity")
        if number <= 0:
            yield wrong(f"{at}[{name}]", text, POSITIVE)


def _validate_affinity(affinity: Stored, at: str) -> Iterator[FieldError]:
    if affinity.get("required") is None:
        yield required(f"{at}.required", "must specify required node constraints")
    else:
        yield from validate_node_selector(affinity["required"], f"{at}.required")


def validate_inline(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a volume within an attachment, where only CSI's are allowed."""
    for name in ("claimRef", "capacity"):
        if spec.get(name):
            yield not_allowed(f"{at}.{name}", f"may not be specified {_INLINE}")
    if "csi" not in spec:
        yield required(f"{at}.csi", f"has to be specified {_INLINE}")
    yield from present(spec, at, "accessModes")
    yield from validate_modes(spec.get("accessModes") or (), f"{at}.accessModes")
    if spec.get("persistentVolumeReclaimPolicy", "Retain") != "Retain":
        yield not_allowed(f"{at}.persistentVolumeReclaimPolicy", f"may only be Retain {_INLINE}")
    if "nodeAffinity" in spec:
        yield not_allowed(f"{at}.nodeAffinity", f"may not be specified {_INLINE}")
    yield from _validate_sources(spec, at)
    if spec.get("storageClassName"):
        yield not_allowed(f"{at}.storageClassName", f"may not be specified {_INLINE}")
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        why = f"may not specify volumeMode other than Filesystem {_INLINE}"
        yield not_allowed(f"{at}.volumeMode", why)


def _validate_sources(spec: Stored, at: str) -> Iterator[FieldError]:
    found = [name for name in _ORDER if name in spec]
    for name in found[:1]:
        check = _SOURCES.get(name)
        if check is not None:
            yield from check(spec[name], f"{at}.{_PATHS.get(name, name)}")
    for name in found[1:]:
        yield not_allowed(f"{at}.{name}", "may not specify more than 1 volume type")
    if not found:
        yield required(at, "must specify a volume type")


def _csi(source: Stored, at: str) -> Iterator[FieldError]:
    yield from csi_driver_name(source.get("driver", ""), f"{at}.driver")
    yield from present(source, at, "volumeHandle")
    for name in _SECRETS:
        if name in source:
            where = f"{at}.{name}"
            yield from present_and_formed(source[name], where, "name", names.subdomain)
            yield from present_and_formed(source[name], where, "namespace", names.label)


def _local(source: Stored, at: str) -> Iterator[FieldError]:
    if not source.get("path"):
        yield required(f"{at}.path")
    else:
        yield from no_backsteps(source["path"], f"{at}.path")


def _azure_file(source: Stored, at: str) -> Iterator[FieldError]:
    yield from present(source, at, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield required(f"{at}.secretNamespace")


_ORDER = (
    *("hostPath", "gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "flocker", "nfs"),
    *("rbd", "quobyte", "cephfs", "iscsi", "cinder", "fc", "flexVolume", "azureFile"),
    *("vsphereVolume", "photonPersistentDisk", "portworxVolume", "azureDisk", "scaleIO", "local"),
    *("storageos", "csi"),
)
_SOURCES: Mapping[str, Check] = MappingProxyType(
    {**PERSISTENT, "azureFile": _azure_file, "local": _local, "csi": _csi}
)
_PATHS: Mapping[str, str] = MappingProxyType({"gcePersistentDisk": "persistentDisk"})


def fixed(new: Object, old: Stored) -> list[FieldError]:
    """Refuse another source, mode and place of a volume that exists.

    What else is wrong with it is found a second time, as Kubernetes does.
    """
    found = validate(new)
    after, before = new["spec"], old["spec"]
    sources = [
        {name: _without_secret(spec, name) for name in _ORDER if name in spec}
        for spec in (before, after)
    ]
    if sources[0] != sources[1]:
        shown = difference("core/v1.PersistentVolumeSource", *sources)
        why = f"spec.persistentvolumesource is immutable after creation\n{shown}"
        found.append(not_allowed("spec.persistentvolumesource", why))
    if after.get("volumeMode") != before.get("volumeMode"):
        found.append(wrong("volumeMode", after.get("volumeMode"), IMMUTABLE))
    place = after.get("nodeAffinity")
    if "nodeAffinity" in before and place != before["nodeAffinity"]:
        why = f"{IMMUTABLE}, except for updating from beta label to GA"
        found.append(wrong("nodeAffinity", internal("*core/v1.VolumeNodeAffinity", place), why))
    return found


def _without_secret(spec: Stored, name: str) -> Any:
    source = spec.get(name)
    if name != "csi" or source is None:
        return source
    return {key: value for key, value in source.items() if key != "controllerExpandSecretRef"}
