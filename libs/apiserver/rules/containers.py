"""Validation of containers: ordinary ones, initial ones with sidecars, ephemeral ones.

Source: Kubernetes API reference, Container, EphemeralContainer; order and wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import (
    Stored,
    in_range,
    needed_one_of,
    present,
    present_and_formed,
)
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    missing,
    not_allowed,
    not_supported,
    required,
    too_many,
    wrong,
)
from libs.apiserver.rules.environment import validate_environment
from libs.apiserver.rules.handlers import PORTS, validate_lifecycle, validate_probes
from libs.apiserver.rules.mounts import validate_devices, validate_mounts
from libs.apiserver.rules.resources import container_resource, validate_requirements
from libs.apiserver.rules.security import validate_context

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGES = ("File", "FallbackToLogsOnError")
_RESTARTS = ("Always", "Never", "OnFailure")
_RESIZED, _RESIZES = ("cpu", "memory"), ("NotRequired", "RestartContainer")
_MOST_RULES, _MOST_CODES = 20, 255
_NO_SIDECAR = "may not be set for init containers without restartPolicy=Always"
_OF_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
_NOT_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a container may refer to in its pod, and what the pod decides for it."""

    volumes: Mapping[str, Stored]
    claims: tuple[str, ...] = ()
    grace: int | None = None
    """Seconds that containers get to end."""

    restart_policy: str = "Always"
    system: str = ""
    host_users: bool = True


def surroundings(spec: Stored, volumes: Mapping[str, Stored]) -> Surroundings:
    """Return what a pod spec holds for its containers; `volumes` are the usable ones by name."""
    claims = (claim.get("name", "") for claim in spec.get("resourceClaims") or ())
    return Surroundings(
        volumes=volumes,
        claims=tuple(name for name in claims if name),
        grace=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy", ""),
        system=(spec.get("os") or {}).get("name", ""),
        host_users=spec.get("hostUsers", True),
    )


def validate_containers(spec: Stored, at: str, around: Surroundings) -> Iterator[FieldError]:
    """Yield what is wrong with all containers of a pod spec."""
    containers = spec.get("containers") or ()
    where = f"{at}.containers"
    if not containers:
        yield required(where)
    seen: set[str] = set()
    for index, container in enumerate(containers):
        yield from _validate_container(container, f"{where}[{index}]", around)
        yield from _unique(container, f"{where}[{index}]", seen)
        yield from validate_lifecycle(container, f"{where}[{index}]", around.grace, around.system)
        yield from validate_probes(container, f"{where}[{index}]", around.grace)
        yield from _validate_restarts(container, f"{where}[{index}]")
    yield from validate_host_ports(containers, where)
    yield from _validate_initial(spec, f"{at}.initContainers", around)
    yield from _validate_ephemeral(spec, f"{at}.ephemeralContainers", around)


def _unique(container: Stored, at: str, seen: set[str]) -> Iterator[FieldError]:
    name = container.get("name", "")
    if name in seen:
        yield duplicate(f"{at}.name", name)
    seen.add(name)


def _validate_initial(spec: Stored, at: str, around: Surroundings) -> Iterator[FieldError]:
    seen = {container.get("name", "") for container in spec.get("containers") or ()}
    for index, container in enumerate(spec.get("initContainers") or ()):
        where = f"{at}[{index}]"
        is_sidecar = container.get("restartPolicy") == "Always"
        yield from _validate_container(container, where, around)
        if is_sidecar and container.get("restartPolicyRules"):
            why = (
                "restartPolicyRules are not allowed for init containers with restart policy Always"
            )
            yield not_allowed(f"{where}.restartPolicyRules", why)
        elif not is_sidecar:
            yield from _validate_restarts(container, where)
        yield from _unique(container, where, seen)
        yield from validate_host_ports([container], at)
        if is_sidecar:
            yield from validate_lifecycle(container, where, around.grace, around.system)
            yield from validate_probes(container, where, around.grace)
            continue
        for name in _OF_SIDECARS:
            if name in container:
                yield not_allowed(f"{where}.{name}", _NO_SIDECAR)
        for number, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                place = f"{where}.resizePolicy[{number}].restartPolicy"
                yield wrong(place, "RestartContainer", why)


def _validate_ephemeral(spec: Stored, at: str, around: Surroundings) -> Iterator[FieldError]:
    both = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    others = {container.get("name", "") for container in both}
    seen = set(others)
    for index, container in enumerate(spec.get("ephemeralContainers") or ()):
        where = f"{at}[{index}]"
        yield from _validate_container(container, where, around)
        yield from validate_image_spaces(container, where)
        yield from _unique(container, where, seen)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield missing(f"{where}.targetContainerName", target)
        for name in _NOT_EPHEMERAL:
            if container.get(name):
                yield not_allowed(f"{where}.{name}", "cannot be set for an Ephemeral Container")
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for name in ("subPath", "subPathExpr"):
                if mount.get(name):
                    place = f"{where}.volumeMounts[{number}].{name}"
                    yield not_allowed(place, "cannot be set for an Ephemeral Container")


def validate_image_spaces(container: Stored, at: str) -> Iterator[FieldError]:
    """Yield an image in blanks, which only pods refuse, templates not."""
    image = container.get("image", "")
    if image != image.strip():
        yield wrong(f"{at}.image", image, "must not have leading or trailing whitespace")


def _validate_container(container: Stored, at: str, around: Surroundings) -> Iterator[FieldError]:
    yield from present_and_formed(container, at, "name", names.label)
    yield from present(container, at, "image")
    yield from needed_one_of(container, at, "terminationMessagePolicy", _MESSAGES)
    yield from _validate_ports(container.get("ports") or (), at)
    yield from validate_environment(container, at)
    yield from validate_mounts(container, at, around.volumes)
    yield from validate_devices(container, at, around.volumes)
    yield from needed_one_of(container, at, "imagePullPolicy", _PULL_POLICIES)
    yield from validate_requirements(
        container.get("resources") or {},
        f"{at}.resources",
        check_name=container_resource,
        claims=around.claims,
    )
    yield from _validate_resizes(container, f"{at}.resizePolicy", around.restart_policy)
    yield from validate_context(container, at, host_users=around.host_users)


def _validate_ports(ports: Sequence[Stored], at: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        where, name = f"{at}.ports[{index}]", port.get("name", "")
        explained = names.port_name(name) if name else ()
        yield from (wrong(f"{where}.name", name, why) for why in explained)
        if name and not explained:
            if name in seen:
                yield duplicate(f"{where}.name", name)
            seen.add(name)
        if not port.get("containerPort"):
            yield required(f"{where}.containerPort")
        else:
            yield from in_range(port, where, "containerPort", PORTS)
        if port.get("hostPort"):
            yield from in_range(port, where, "hostPort", PORTS)
        yield from needed_one_of(port, where, "protocol", _PROTOCOLS)


def validate_host_ports(containers: Sequence[Stored], at: str) -> Iterator[FieldError]:
    """Yield the host ports that two containers want."""
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            wanted = f"{port.get('protocol', 'TCP')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if wanted in taken:
                yield duplicate(f"{at}[{index}].ports[{number}].hostPort", wanted)
            taken.add(wanted)


def _validate_resizes(container: Stored, at: str, restarts: str) -> Iterator[FieldError]:
    """Yield what is wrong with how a container is resized; the list is named, not its element."""
    seen: set[str] = set()
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        resource, policy_name = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if resource in seen:
            yield duplicate(f"{at}[{index}]", resource)
        seen.add(resource)
        for value, choices in ((resource, _RESIZED), (policy_name, _RESIZES)):
            if not value:
                yield required(at)
            elif value not in choices:
                yield not_supported(at, value, choices)
        if restarts == "Never" and policy_name != "NotRequired":
            why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            yield wrong(at, policy_name, why)


def _validate_restarts(container: Stored, at: str) -> Iterator[FieldError]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None and rules:
        yield required(
            f"{at}.restartPolicy", "must specify restartPolicy when restart rules are used"
        )
    elif policy is not None and policy not in _RESTARTS:
        yield not_supported(f"{at}.restartPolicy", policy, _RESTARTS)
    if len(rules) > _MOST_RULES:
        yield too_many(f"{at}.restartPolicyRules", len(rules), _MOST_RULES)
    for index, rule in enumerate(rules):
        where = f"{at}.restartPolicyRules[{index}]"
        if rule.get("action", "") != "Restart":
            yield not_supported(f"{where}.action", rule.get("action", ""), ("Restart",))
        yield from _validate_codes(rule.get("exitCodes"), f"{where}.exitCodes")


def _validate_codes(codes: Any, at: str) -> Iterator[FieldError]:
    if codes is None:
        yield required(at, "must be specified")
        return
    if codes.get("operator", "") not in ("In", "NotIn"):
        yield not_supported(f"{at}.operator", codes.get("operator", ""), ("In", "NotIn"))
    if len(codes.get("values") or ()) > _MOST_CODES:
        yield too_many(f"{at}.values", len(codes["values"]), _MOST_CODES)
