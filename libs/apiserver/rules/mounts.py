"""Validation of where a container finds its volumes: mounts and block devices.

Source: Kubernetes API reference, VolumeMount, VolumeDevice; wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator

from libs.apiserver.checks import Stored, no_backsteps, one_of, relative_path
from libs.apiserver.field_errors import (
    FieldError,
    missing,
    not_allowed,
    not_supported,
    required,
    wrong,
)

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY = ("Disabled", "Enabled", "IfPossible")


def validate_mounts(container: Stored, at: str, volumes: Stored) -> Iterator[FieldError]:
    """Yield what is wrong with the mounts of a container; `volumes` are the pod's by name."""
    devices = container.get("volumeDevices") or ()
    names = {device.get("name", "") for device in devices}
    taken = {device.get("devicePath", "") for device in devices}
    seen: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        where = f"{at}.volumeMounts[{index}]"
        name, path = mount.get("name", ""), mount.get("mountPath", "")
        yield from _validate_place(mount, where, "mountPath", path in seen)
        if name not in volumes:
            yield missing(f"{where}.name", name)
        seen.add(path)
        if name in names:
            yield wrong(f"{where}.name", name, "must not already exist in volumeDevices")
        if path in taken:
            why = "must not already exist as a path in volumeDevices"
            yield wrong(f"{where}.mountPath", path, why)
        yield from _validate_options(mount, container, f"{at}.volumeMounts", where)


def _validate_place(mount: Stored, at: str, path: str, is_taken: bool) -> Iterator[FieldError]:
    if not mount.get("name"):
        yield required(f"{at}.name")
    if not mount.get(path):
        yield required(f"{at}.{path}")
    if is_taken:
        yield wrong(f"{at}.{path}", mount.get(path, ""), "must be unique")


def _validate_options(
    mount: Stored, container: Stored, whole: str, at: str
) -> Iterator[FieldError]:
    """Yield what is wrong beside name and path; the API server names the list, not the mount."""
    below, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
    yield from relative_path(below, f"{whole}.subPath")
    if expression and below:
        why = "subPathExpr and subPath are mutually exclusive"
        yield wrong(f"{at}.subPathExpr", expression, why)
    yield from relative_path(expression, f"{whole}.subPathExpr")
    yield from one_of(mount, whole, "mountPropagation", _PROPAGATIONS)
    privileged = (container.get("securityContext") or {}).get("privileged")
    if mount.get("mountPropagation") == "Bidirectional" and not privileged:
        why = "Bidirectional mount propagation is available only to privileged containers"
        yield not_allowed(f"{whole}.mountPropagation", why)
    yield from _validate_read_only(mount, f"{whole}.recursiveReadOnly")


def _validate_read_only(mount: Stored, at: str) -> Iterator[FieldError]:
    policy = mount.get("recursiveReadOnly", "Disabled")
    if policy not in _READ_ONLY:
        yield not_supported(at, policy, _READ_ONLY)
    elif policy != "Disabled":
        if not mount.get("readOnly"):
            yield not_allowed(at, "may only be specified when readOnly is true")
        if mount.get("mountPropagation", "None") != "None":
            why = "may only be specified when mountPropagation is None or not specified"
            yield not_allowed(at, why)


def validate_devices(container: Stored, at: str, volumes: Stored) -> Iterator[FieldError]:
    """Yield what is wrong with the block devices of a container."""
    mounts = container.get("volumeMounts") or ()
    mounted = {mount.get("name", "") for mount in mounts}
    taken = {mount.get("mountPath", "") for mount in mounts}
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        where = f"{at}.volumeDevices[{index}]"
        name, path = device.get("name", ""), device.get("devicePath", "")
        yield from _validate_place(device, where, "devicePath", path in paths)
        if name in names:
            yield wrong(f"{where}.name", name, "must be unique")
        if name not in volumes:
            yield missing(f"{where}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & set(volumes[name]):
            why = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                "mode"
            )
            yield wrong(f"{where}.name", name, why)
        if any(no_backsteps(path, where)):
            yield wrong(f"{where}.devicePath", path, "can not contain backsteps ('..')")
        else:
            paths.add(path)
        if name in mounted:
            yield wrong(f"{where}.name", name, "must not already exist in volumeMounts")
        if path in taken:
            why = "must not already exist as a path in volumeMounts"
            yield wrong(f"{where}.devicePath", path, why)
        names.add(name)
