"""Validation of environment variables and of what they, and files in volumes, may take from a pod.

Source: Kubernetes API reference, EnvVar, EnvFromSource, ObjectFieldSelector,
ResourceFieldSelector; wordings as recorded from kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    formed,
    formed_if_present,
    no_backsteps,
    present_and_formed,
)
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
from libs.domain import quantity_text

FIELDS_OF_VARIABLES = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
FIELDS_OF_FILES = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_RESOURCES = tuple(
    f"{side}.{name}"
    for side in ("limits", "requests")
    for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", *(f"1{unit}{suffix}" for suffix in ("", "i") for unit in "kMGTPE"))
_BYTE_WORDS = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
_DIVISORS = (
    (".cpu", ("1m", "1"), "1m and 1", "cpu"),
    (".memory", _BYTES, _BYTE_WORDS, "memory"),
    (".ephemeral-storage", _BYTES, _BYTE_WORDS, "local ephemeral storage"),
    (".hugepages-", _BYTES, _BYTE_WORDS, "hugepages"),
)
"""What the name of a resource holds, its divisors, how those and the resource are worded."""

_KNOWN_FIELDS = {*FIELDS_OF_VARIABLES, *FIELDS_OF_FILES}
_SUBSCRIPTED = re.compile(r"(.*)\['(.*)'\]")
_ONE_SOURCE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
    "`fileKeyRef`"
)


def validate_environment(container: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the variables of a container."""
    for index, variable in enumerate(container.get("env") or ()):
        yield from _validate_variable(variable, f"{at}.env[{index}]")
    for index, source in enumerate(container.get("envFrom") or ()):
        yield from _validate_bulk(source, f"{at}.envFrom", index)


def _validate_variable(variable: Stored, at: str) -> Iterator[FieldError]:
    yield from present_and_formed(variable, at, "name", names.variable)
    source = variable.get("valueFrom")
    if source is None:
        return
    where = f"{at}.valueFrom"
    if "fieldRef" in source:
        yield from validate_field(source["fieldRef"], f"{where}.fieldRef", FIELDS_OF_VARIABLES)
    if "resourceFieldRef" in source:
        yield from validate_resource_field(source["resourceFieldRef"], f"{where}.resourceFieldRef")
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in source:
            yield from _validate_key(source[name], f"{where}.{name}")
    if "fileKeyRef" in source:
        yield from _validate_file_key(source["fileKeyRef"], f"{where}.fileKeyRef")
    if not source:
        yield wrong(where, "", _ONE_SOURCE)
    elif variable.get("value"):
        yield wrong(where, "", "may not be specified when `value` is not empty")
    elif len(source) > 1:
        yield wrong(where, "", "may not have more than one field specified at a time")


def _validate_key(key: Stored, at: str) -> Iterator[FieldError]:
    yield from formed(key.get("name", ""), f"{at}.name", names.subdomain)
    yield from present_and_formed(key, at, "key", names.config_key)


def _validate_file_key(key: Stored, at: str) -> Iterator[FieldError]:
    yield from present_and_formed(key, at, "key", names.variable)
    yield from present_and_formed(key, at, "volumeName", names.label)
    if not key.get("path"):
        yield required(f"{at}.path")
    else:
        yield from no_backsteps(key["path"], f"{at}.path")


def _validate_bulk(source: Stored, at: str, index: int) -> Iterator[FieldError]:
    yield from formed_if_present(source, f"{at}[{index}]", "prefix", names.variable)
    found = [name for name in ("configMapRef", "secretRef") if name in source]
    for name in found:
        # The name may end as prefixes do.
        check = _as_prefix
        yield from present_and_formed(source[name], f"{at}[{index}].{name}", "name", check)
    if not found:
        yield wrong(at, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(found) > 1:
        yield wrong(at, "", "may not have more than one field specified at a time")


def _as_prefix(name: str) -> tuple[str, ...]:
    return names.subdomain(name, True)


def validate_field(source: Stored, at: str, allowed: Sequence[str]) -> Iterator[FieldError]:
    """Yield what is wrong with a reference to a field of the pod; `allowed` may be referred to."""
    if not source.get("apiVersion"):
        yield required(f"{at}.apiVersion")
        return
    path = source.get("fieldPath", "")
    if not path:
        yield required(f"{at}.fieldPath")
        return
    version, subscripted = source["apiVersion"], _SUBSCRIPTED.fullmatch(path)
    if version != "v1":
        yield wrong(f"{at}.fieldPath", path, f"error converting fieldPath: {_UNREADABLE}{version}")
    elif subscripted:
        yield from _validate_subscript(subscripted[1], subscripted[2], at, path)
    elif path not in _KNOWN_FIELDS and path not in _OTHER_FIELDS:
        why = f"error converting fieldPath: field label not supported: {path}"
        yield wrong(f"{at}.fieldPath", path, why)
    elif _RENAMED.get(path, path) not in allowed:
        yield not_supported(f"{at}.fieldPath", _RENAMED.get(path, path), allowed)


def _validate_subscript(path: str, key: str, at: str, whole: str) -> Iterator[FieldError]:
    if path == "metadata.annotations":
        yield from formed(key.lower(), at, names.qualified_name)
    elif path == "metadata.labels":
        yield from formed(key, at, names.qualified_name)
    else:
        why = f"error converting fieldPath: field label does not support subscript: {whole}"
        yield wrong(f"{at}.fieldPath", whole, why)


_UNREADABLE = "unsupported pod version: "
_RENAMED: Mapping[str, str] = {"spec.host": "spec.nodeName"}
_OTHER_FIELDS = ("spec.restartPolicy", "spec.schedulerName", "status.phase", "spec.host")
"""Fields that can be named but not be taken."""


def validate_resource_field(
    source: Stored, at: str, *, of_volume: bool = False
) -> Iterator[FieldError]:
    """Yield what is wrong with a reference to resources; a volume must name the container."""
    name = source.get("resource", "")
    if of_volume and not source.get("containerName"):
        yield required(f"{at}.containerName")
    elif not name:
        yield required(f"{at}.resource")
    elif name not in _RESOURCES and not name.startswith(_HUGE):
        yield not_supported(f"{at}.resource", name, _RESOURCES)
    divisor = source.get("divisor", "0")
    if quantity_text.value(divisor) == 0:
        return
    for part, divisors, worded, resource in _DIVISORS:
        if part in name and name.startswith(("limits.", "requests.")) and divisor not in divisors:
            why = f"only divisor's values {worded} are supported with the {resource} resource"
            yield wrong(f"{at}.divisor", name, why)
