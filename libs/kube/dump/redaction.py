"""What of an object a dump never keeps, or keeps only where that was asked for.

Pure. Laws: what is taken away decides nothing about where a pod may run, what it costs or when it
may go; doing it twice is doing it once; an object that is valid stays so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]

_LONGEST_ANNOTATION = 1024
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRETS = frozenset({"data", "stringData", "binaryData"})
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_OF_CONTAINERS = frozenset({"env", "envFrom", "command", "args"})
_HANDLERS = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")
_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_STAND_IN = "redacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What is kept of what is taken away by default; data of Secrets never is."""

    managed_fields: bool = False
    containers: bool = False
    """Environment, commands, probes' commands and headers, messages of ended containers, long
    annotations, user data of node classes."""


ONLY_NEEDED = Keeping()


def redacted(document: Mapping[str, Any], keeping: Keeping = ONLY_NEEDED) -> Document:
    """Return an object as a dump has it; what is given stays as it is."""
    found = {**document, "metadata": _metadata(document.get("metadata") or {}, keeping)}
    kind = document.get("kind")
    if kind in ("Secret", "ConfigMap"):
        kept = keeping.containers and kind == "ConfigMap"
        return found if kept else {k: v for k, v in found.items() if k not in _SECRETS}
    if keeping.containers:
        return found
    if kind == "Pod" and isinstance(found.get("status"), Mapping):
        found["status"] = _pod_status(found["status"])
    for part in ("spec", "template", "data"):
        if isinstance(found.get(part), Mapping):
            found[part] = _searched(found[part])
    return found


def _metadata(metadata: Mapping[str, Any], keeping: Keeping) -> Document:
    found = dict(metadata)
    if not keeping.managed_fields:
        found.pop("managedFields", None)
    annotations = found.get("annotations")
    if annotations and not keeping.containers:
        kept = {
            key: text
            for key, text in annotations.items()
            if key != _APPLIED and len(str(text)) <= _LONGEST_ANNOTATION
        }
        found["annotations"] = kept
        if not kept:
            del found["annotations"]
    return found


def _searched(value: Any) -> Any:
    """Return a value with every pod in it, whatever makes pods of it, without its secrets.

    Templates are in Deployments, CronJobs, revisions of DaemonSets and resources of strangers.
    """
    if isinstance(value, Mapping):
        found = {key: _searched(one) for key, one in value.items() if key != "userData"}
        for name in _CONTAINERS:
            if isinstance(found.get(name), list | tuple):
                found[name] = [_container(one) for one in found[name]]
        metadata = found.get("metadata")
        if isinstance(metadata, Mapping):
            found["metadata"] = _metadata(metadata, ONLY_NEEDED)
        return found
    if isinstance(value, list | tuple):
        return [_searched(one) for one in value]
    return value


def _container(container: Any) -> Any:
    if not isinstance(container, Mapping):
        return container
    found = {key: one for key, one in container.items() if key not in _OF_CONTAINERS}
    for name in _HANDLERS:
        if isinstance(found.get(name), Mapping):
            found[name] = _handler(found[name])
    if isinstance(found.get("lifecycle"), Mapping):
        hooks = dict(found["lifecycle"])
        for name in _HOOKS:
            if isinstance(hooks.get(name), Mapping):
                hooks[name] = _handler(hooks[name])
        found["lifecycle"] = hooks
    return found


def _handler(handler: Mapping[str, Any]) -> Document:
    found = dict(handler)
    if isinstance(found.get("exec"), Mapping):
        found["exec"] = {"command": [_STAND_IN]}
    if isinstance(found.get("httpGet"), Mapping):
        found["httpGet"] = {k: v for k, v in found["httpGet"].items() if k != "httpHeaders"}
    return found


def _pod_status(status: Mapping[str, Any]) -> Document:
    found = dict(status)
    for name in _STATUSES:
        if isinstance(found.get(name), list | tuple):
            found[name] = [_container_status(one) for one in found[name]]
    return found


def _container_status(status: Any) -> Any:
    """Return a container's status without what its program said last."""
    if not isinstance(status, Mapping):
        return status
    found = dict(status)
    for name in ("state", "lastState"):
        if isinstance(found.get(name), Mapping):
            found[name] = {key: _ended(one) for key, one in found[name].items()}
    return found


def _ended(state: Any) -> Any:
    if not isinstance(state, Mapping):
        return state
    return {key: one for key, one in state.items() if key != "message"}
