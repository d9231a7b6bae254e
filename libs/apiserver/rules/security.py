"""Validation of security contexts, of pods and of containers.

Source: Kubernetes API reference, PodSecurityContext, SecurityContext; wordings as recorded from
kube-apiserver 1.36. Privileged containers are fine, as where `--allow-privileged` is set.
"""

import re
from collections.abc import Iterator, Sequence

from libs.apiserver.checks import Stored, between, in_range, one_of, relative_path
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_allowed,
    not_supported,
    required,
    too_long,
    wrong,
)

_IDS = (0, 2**31 - 1)
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PROFILE = 4095
_SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
_SYSCTL_LIMIT = 253
_HOSTS_SYSCTLS = (
    ("hostNetwork", ("net.",)),
    ("hostIPC", ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")),
)
"""Sharing of the host, and the settings that then are not the pod's own."""


def validate_pod_context(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the security context of a pod."""
    context, where = spec.get("securityContext") or {}, f"{at}.securityContext"
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from in_range(context, where, name, _IDS)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        if not _IDS[0] <= group <= _IDS[1]:
            yield wrong(f"{where}.supplementalGroups[{index}]", group, between(_IDS))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield wrong(f"{where}.shareProcessNamespace", True, why)
    yield from _validate_sysctls(context.get("sysctls") or (), f"{where}.sysctls", spec)
    yield from one_of(context, where, "fsGroupChangePolicy", ("Always", "OnRootMismatch"))
    yield from _validate_profiles(context, where)
    yield from one_of(context, where, "supplementalGroupsPolicy", ("Merge", "Strict"))
    yield from one_of(context, where, "seLinuxChangePolicy", ("MountOption", "Recursive"))


def _validate_sysctls(settings: Sequence[Stored], at: str, spec: Stored) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, setting in enumerate(settings):
        where, name = f"{at}[{index}].name", setting.get("name", "")
        if not name:
            yield required(where)
        elif len(name) > _SYSCTL_LIMIT or not re.match(_SYSCTL, name):
            why = f"must have at most {_SYSCTL_LIMIT} characters and match regex {_SYSCTL}"
            yield wrong(where, name, why)
        elif name in seen:
            yield duplicate(where, name)
        for shared, prefixes in _HOSTS_SYSCTLS:
            if spec.get(shared) and name.replace("/", ".").startswith(prefixes):
                yield wrong(where, name, f"may not be specified when '{shared}' is true")
        seen.add(name)


def _validate_profiles(context: Stored, at: str) -> Iterator[FieldError]:
    yield from _validate_seccomp(context.get("seccompProfile"), f"{at}.seccompProfile")
    yield from _validate_app_armor(context.get("appArmorProfile"), f"{at}.appArmorProfile")


def _validate_seccomp(profile: Stored | None, at: str) -> Iterator[FieldError]:
    if profile is None:
        return
    yield from _validate_type(profile, at, "seccompProfile")
    path = profile.get("localhostProfile")
    if profile.get("type") != "Localhost":
        if path is not None:
            shown = {"Type": profile.get("type", ""), "LocalhostProfile": path}
            why = "can only be set when seccomp type is Localhost"
            yield wrong(f"{at}.localhostProfile", shown, why)
    elif path is None:
        yield required(f"{at}.localhostProfile", "must be set when seccomp type is Localhost")
    else:
        yield from relative_path(path, f"{at}.localhostProfile")


def _validate_type(profile: Stored, at: str, name: str) -> Iterator[FieldError]:
    kind = profile.get("type", "")
    if not kind:
        yield required(f"{at}.type", f"type is required when {name} is set")
    elif kind not in _PROFILES:
        yield not_supported(f"{at}.type", kind, _PROFILES)


def _validate_app_armor(profile: Stored | None, at: str) -> Iterator[FieldError]:
    if profile is None:
        return
    yield from _validate_type(profile, at, "appArmorProfile")
    name, where = profile.get("localhostProfile"), f"{at}.localhostProfile"
    kind = profile.get("type", "")
    if kind == "Localhost":
        if name is not None and name != name.strip():
            yield wrong(where, name, "must not be padded with whitespace")
        elif not name:
            yield required(where, "must be set when AppArmor type is Localhost")
        if name is not None and len(name) > _LONGEST_PROFILE:
            yield too_long(where, _LONGEST_PROFILE)
    elif kind in _PROFILES and name is not None:
        yield wrong(where, name, "can only be set when AppArmor type is Localhost")


def validate_context(container: Stored, at: str, *, host_users: bool) -> Iterator[FieldError]:
    """Yield what is wrong with the security context of a container."""
    context, where = container.get("securityContext") or {}, f"{at}.securityContext"
    for name in ("runAsUser", "runAsGroup"):
        yield from in_range(context, where, name, _IDS)
    yield from one_of(context, where, "procMount", ("Default", "Unmasked"))
    if host_users and context.get("procMount") == "Unmasked":
        why = "`hostUsers` must be false to use `Unmasked`"
        yield wrong(f"{where}.procMount", "Unmasked", why)
    yield from _validate_profiles(context, where)
    if context.get("allowPrivilegeEscalation") is False:
        added = (context.get("capabilities") or {}).get("add") or ()
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield wrong(where, context, why)
        if "CAP_SYS_ADMIN" in added:
            why = (
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                "CAP_SYS_ADMIN"
            )
            yield wrong(where, context, why)


def validate_system(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what a pod's operating system does not have, and an unknown system."""
    system = spec.get("os")
    if system is None:
        return
    name = system.get("name", "")
    if not name:
        yield required(f"{at}.os.name")
    elif name not in _FOREIGN:
        yield not_supported(f"{at}.os", name, ("linux", "windows"))
    else:
        yield from _validate_foreign(spec, at, name)


def _validate_foreign(spec: Stored, at: str, system: str) -> Iterator[FieldError]:
    of_pod, of_context, of_container, why = _FOREIGN[system]
    for name in of_pod:
        if spec.get(name) not in (None, False):
            yield not_allowed(f"{at}.{name}", why)
    context = spec.get("securityContext") or {}
    for name in of_context:
        if name in context:
            yield not_allowed(f"{at}.securityContext.{name}", why)
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(kind) or ()):
            where = f"{at}.{kind}[{index}].securityContext"
            for name in of_container:
                if name in (container.get("securityContext") or {}):
                    yield not_allowed(f"{where}.{name}", why)


_FOREIGN = {
    "linux": (
        (),
        ("windowsOptions",),
        ("windowsOptions",),
        "windows options cannot be set for a linux pod",
    ),
    "windows": (
        ("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"),
        (
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "fsGroup",
            "fsGroupChangePolicy",
            "sysctls",
            "runAsUser",
            "runAsGroup",
            "supplementalGroups",
            "supplementalGroupsPolicy",
            "seLinuxChangePolicy",
        ),
        (
            "appArmorProfile",
            "seLinuxOptions",
            "seccompProfile",
            "capabilities",
            "readOnlyRootFilesystem",
            "privileged",
            "allowPrivilegeEscalation",
            "procMount",
            "runAsUser",
            "runAsGroup",
        ),
        "cannot be set for a windows pod",
    ),
}
"""Per system: what it has not of pods, of their contexts, of their containers', and why."""
