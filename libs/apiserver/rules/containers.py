"""Validation of containers: names, images, ports, environment, mounts, resources.

Source: Kubernetes API reference, Container; order and wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    missing,
    not_supported,
    required,
    wrong,
)
from libs.domain import quantity_text

NOT_NEGATIVE = "must be greater than or equal to 0"
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def validate_containers(
    containers: Sequence[Mapping[str, Any]], at: str, volumes: frozenset[str]
) -> Iterator[FieldError]:
    """Yield what is wrong with a list of containers."""
    seen: set[str] = set()
    for index, container in enumerate(containers):
        where = f"{at}[{index}]"
        yield from validate_own_name(container.get("name", ""), where, seen)
        yield from _validate_container(container, where, volumes)


def validate_own_name(name: str, at: str, seen: set[str]) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a list's element; `seen` gathers those before it."""
    if not name:
        yield required(f"{at}.name")
    else:
        yield from (wrong(f"{at}.name", name, why) for why in names.label(name))
    if name in seen:
        yield duplicate(f"{at}.name", name)
    seen.add(name)


def _validate_container(
    container: Mapping[str, Any], at: str, volumes: frozenset[str]
) -> Iterator[FieldError]:
    image = container.get("image", "")
    if not image:
        yield required(f"{at}.image")
    elif image != image.strip():
        yield wrong(f"{at}.image", image, "must not have leading or trailing whitespace")
    yield from _validate_ports(container.get("ports", ()), at)
    yield from _validate_environment(container.get("env", ()), at)
    yield from _validate_mounts(container.get("volumeMounts", ()), at, volumes)
    policy = container.get("imagePullPolicy", "Always")
    if policy not in _PULL_POLICIES:
        yield not_supported(f"{at}.imagePullPolicy", policy, _PULL_POLICIES)
    yield from validate_resources(container.get("resources", {}), f"{at}.resources")


def _validate_ports(ports: Sequence[Mapping[str, Any]], at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{at}.ports[{index}]"
        if name := port.get("name"):
            if name in seen:
                yield duplicate(f"{where}.name", name)
            seen.add(name)
        if not port.get("containerPort"):
            yield required(f"{where}.containerPort")
        else:
            yield from _port_range(port["containerPort"], f"{where}.containerPort")
        if port.get("hostPort"):
            yield from _port_range(port["hostPort"], f"{where}.hostPort")
        if port.get("protocol", "TCP") not in _PROTOCOLS:
            yield not_supported(f"{where}.protocol", port["protocol"], _PROTOCOLS)


def _port_range(number: int, at: str) -> Iterator[FieldError]:
    if not 1 <= number <= 65535:
        yield wrong(at, number, "must be between 1 and 65535, inclusive")


def validate_host_ports(containers: Sequence[Mapping[str, Any]], at: str) -> Iterator[FieldError]:
    """Yield the host ports that two containers want."""
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            wanted = f"{port.get('protocol', 'TCP')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if wanted in taken:
                yield duplicate(f"{at}[{index}].ports[{number}].hostPort", wanted)
            taken.add(wanted)


def _validate_environment(variables: Sequence[Mapping[str, Any]], at: str) -> Iterator[FieldError]:
    for index, variable in enumerate(variables):
        where = f"{at}.env[{index}]"
        if not variable.get("name"):
            yield required(f"{where}.name")
        source = variable.get("valueFrom")
        if source is None:
            continue
        if variable.get("value"):
            yield wrong(f"{where}.valueFrom", "", "may not be specified when `value` is not empty")
        if len(source) != 1:
            plural = (
                "must specify one of"
                if not source
                else "may not have more than one field specified at a time"
            )
            yield wrong(f"{where}.valueFrom", "", plural)


def _validate_mounts(
    mounts: Sequence[Mapping[str, Any]], at: str, volumes: frozenset[str]
) -> Iterator[FieldError]:
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        where = f"{at}.volumeMounts[{index}]"
        if not mount.get("name"):
            yield required(f"{where}.name")
        elif mount["name"] not in volumes:
            yield missing(f"{where}.name", mount["name"])
        path = mount.get("mountPath", "")
        if not path:
            yield required(f"{where}.mountPath")
        elif path in paths:
            yield wrong(f"{where}.mountPath", path, "must be unique")
        paths.add(path)


def validate_resources(resources: Mapping[str, Any], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with requests and limits."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for side, quantities in (("limits", limits), ("requests", requests)):
        for name, text in quantities.items():
            where = f"{at}.{side}[{name}]"
            yield from resource_name(name, where)
            yield from validate_quantity(name, text, where)
            if side == "requests":
                yield from _within_limit(name, text, limits, at)


def _within_limit(name: str, text: str, limits: Mapping[str, str], at: str) -> Iterator[FieldError]:
    extended = is_extended(name)
    limit = limits.get(name)
    if limit is None:
        if extended or name.startswith("hugepages-"):
            yield required(f"{at}.limits", "Limit must be set for non overcommitable resources")
        return
    request, bound = quantity_text.value(text), quantity_text.value(limit)
    if (extended or name.startswith("hugepages-")) and request != bound:
        yield wrong(f"{at}.requests", text, f"must be equal to {name} limit of {limit}")
    elif request > bound:
        yield wrong(
            f"{at}.requests", text, f"must be less than or equal to {name} limit of {limit}"
        )


def resource_name(name: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with the name of a container's resource."""
    yield from (wrong(at, name, why) for why in names.qualified_name(name))
    if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
        yield wrong(at, name, "must be a standard resource type or fully qualified")
        yield wrong(at, name, "must be a standard resource for containers")


def is_extended(name: str) -> bool:
    """Tell whether a resource is one of a device plug-in."""
    domain, slash, _name = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io") and not name.startswith("requests.")


def validate_quantity(name: str, text: str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with one amount."""
    number = quantity_text.value(text)
    if number < 0:
        yield wrong(at, text, NOT_NEGATIVE)
    if is_extended(name) and number != number.to_integral_value():
        yield wrong(at, text, "must be an integer")
