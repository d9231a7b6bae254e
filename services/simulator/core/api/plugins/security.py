"""The PodSecurity plug-in, as far as the baseline and restricted levels are commonly met.

Source: Kubernetes documentation, "Pod Security Standards". Checked: host namespaces, privileged
containers, host ports and paths; and for the restricted level privilege escalation, capabilities,
non-root users and seccomp profiles.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from libs.apiserver.rules.podspec import all_containers
from services.simulator.core.api.plugins.refusals import refused
from services.simulator.core.api.resources import Resource

Object = dict[str, Any]
_PREFIX = "pod-security.kubernetes.io/"


def pod_security(reader: Any, resource: Resource, pod: Object) -> None:
    """Refuse a new pod that violates the level that its namespace enforces."""
    if resource.qualified != "pods":
        return
    level = _level(reader, pod, "enforce")
    violations = list(_violations(pod["spec"], level))
    if violations:
        raise refused(
            resource, pod, f'violates PodSecurity "{level}:latest": {", ".join(violations)}'
        )


def warnings(reader: Any, resource: Resource, pod: Object) -> tuple[str, ...]:
    """Return the warning of the level that a namespace only warns of."""
    if resource.qualified != "pods":
        return ()
    level = _level(reader, pod, "warn")
    violations = list(_violations(pod["spec"], level))
    if not violations:
        return ()
    return (f'would violate PodSecurity "{level}:latest": {", ".join(violations)}',)


def _level(reader: Any, pod: Object, mode: str) -> str:
    namespace = reader.find("namespaces", pod["metadata"].get("namespace", ""))
    labels = namespace["metadata"].get("labels", {}) if namespace is not None else {}
    return str(labels.get(_PREFIX + mode, "privileged"))


def _violations(spec: Object, level: str) -> Iterator[str]:
    if level not in ("baseline", "restricted"):
        return
    yield from _baseline(spec)
    if level == "restricted":
        yield from _restricted(spec)


def _baseline(spec: Object) -> Iterator[str]:
    hosts = [name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    if hosts:
        yield f"host namespaces ({', '.join(f'{name}=true' for name in hosts)})"
    privileged = _named(spec, lambda context: context.get("privileged"))
    if privileged:
        yield f"privileged ({_containers(privileged)} must not set securityContext.privileged=true)"
    paths = [volume["name"] for volume in spec.get("volumes", ()) if "hostPath" in volume]
    if paths:
        yield f"hostPath volumes ({_listed('volume', paths)})"


def _restricted(spec: Object) -> Iterator[str]:
    whole = spec.get("securityContext") or {}
    escalating = _named(spec, lambda context: context.get("allowPrivilegeEscalation") is not False)
    if escalating:
        yield (
            f"allowPrivilegeEscalation != false ({_containers(escalating)} must set "
            "securityContext.allowPrivilegeEscalation=false)"
        )
    capable = _named(
        spec, lambda context: "ALL" not in (context.get("capabilities") or {}).get("drop", ())
    )
    if capable:
        yield (
            f"unrestricted capabilities ({_containers(capable)} must set "
            'securityContext.capabilities.drop=["ALL"])'
        )
    rooted = _named(
        spec, lambda context: not context.get("runAsNonRoot", whole.get("runAsNonRoot"))
    )
    if rooted:
        yield (
            f"runAsNonRoot != true (pod or {_containers(rooted)} must set "
            "securityContext.runAsNonRoot=true)"
        )
    unconfined = _named(spec, lambda context: not _has_profile(context) and not _has_profile(whole))
    if unconfined:
        yield (
            f"seccompProfile (pod or {_containers(unconfined)} must set "
            "securityContext.seccompProfile.type to "
            '"RuntimeDefault" or "Localhost")'
        )


def _has_profile(context: Mapping[str, Any]) -> bool:
    return (context.get("seccompProfile") or {}).get("type") in ("RuntimeDefault", "Localhost")


def _named(spec: Object, violates: Any) -> list[str]:
    return [
        container["name"]
        for container in all_containers(spec)
        if violates(container.get("securityContext") or {})
    ]


def _containers(names: list[str]) -> str:
    return _listed("container", names)


def _listed(word: str, names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"{word}{'s' if len(names) > 1 else ''} {quoted}"
