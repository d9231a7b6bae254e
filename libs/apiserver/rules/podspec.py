"""Defaults of pod specs, alone and in templates.

Source: Kubernetes API reference, PodSpec and Container; defaulting as recorded from kube-apiserver
1.36.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from libs.apiserver.rules.resources import HUGE, sums
from libs.domain import quantity_text

Object = dict[str, Any]
_MILLI = Decimal("0.001")


def default_template(template: Object) -> None:
    """Fill in the defaults of a pod template."""
    default_pod_spec(template["spec"])


def default_pod_spec(spec: Object) -> None:
    """Fill in the defaults that hold in pods and in templates."""
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    if "serviceAccountName" in spec:
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    elif "serviceAccount" in spec:
        spec["serviceAccountName"] = spec["serviceAccount"]
    for container in all_containers(spec):
        _default_container(container)
    for volume in spec.get("volumes", ()):
        _default_volume(volume)
    if overhead := spec.get("overhead"):
        round_up(overhead)
    if resources := spec.get("resources"):
        _round_resources(resources)


def default_pod(spec: Object) -> None:
    """Fill in what only pods get, templates not."""
    default_pod_spec(spec)
    spec.setdefault("enableServiceLinks", True)
    for container in all_containers(spec):
        limits = container["resources"].get("limits")
        if limits:
            requests = container["resources"].setdefault("requests", {})
            for name, limit in limits.items():
                requests.setdefault(name, limit)
    resources = spec.get("resources")
    if resources:
        _default_pod_resources(spec, resources)
    if spec.get("hostNetwork"):
        _default_host_ports(spec)


def all_containers(spec: Mapping[str, Any]) -> Iterator[Object]:
    """Yield init, ordinary and ephemeral containers."""
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
    yield from spec.get("ephemeralContainers") or ()


def round_up(quantities: Object) -> None:
    """Round a resource list up to milli-units, as Kubernetes does when it stores one."""
    for name, text in quantities.items():
        quantities[name] = _milli(text)


@lru_cache(maxsize=4096)
def _milli(text: str) -> str:
    if not text.endswith(("n", "u")):
        return text
    number = quantity_text.value(text)
    rounded = (number / _MILLI).to_integral_value(rounding="ROUND_CEILING")
    return quantity_text.canonical(f"{rounded}m")


def _default_pod_resources(spec: Object, resources: Object) -> None:
    """Let a pod's own resources follow from its containers', then requests from limits."""
    if resources.get("limits") or resources.get("requests"):
        requested = resources.get("requests") or {}
        for name, text in sums(spec, "limits").items():
            if name.startswith(HUGE) and name not in requested:
                resources.setdefault("limits", {}).setdefault(name, text)
    if not resources.get("limits"):
        return
    requests = resources.setdefault("requests", {})
    for name, text in sums(spec, "requests").items():
        if name in ("cpu", "memory"):
            requests.setdefault(name, text)
    for name, text in resources["limits"].items():
        if name in ("cpu", "memory") or name.startswith(HUGE):
            requests.setdefault(name, text)


def _default_host_ports(spec: Object) -> None:
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            for port in container.get("ports") or ():
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort", 0)


def _round_resources(resources: Object) -> None:
    for side in ("limits", "requests"):
        if side in resources:
            round_up(resources[side])


def _default_container(container: Object) -> None:
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            _default_probe(container[probe])
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict) and "httpGet" in handler:
            _default_get(handler["httpGet"])
    for variable in container.get("env", ()):
        _default_reference(variable.get("valueFrom") or {})
    _round_resources(container.get("resources", {}))


def _default_reference(source: Object) -> None:
    """Fill in the defaults of a reference to a field or resource of the pod."""
    if "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", "v1")
    if "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")


def pull_policy(image: str) -> str:
    """Return the default pull policy: Always for the tag latest or none at all.

    A text that names no image has no tag that could be the latest.
    """
    first, slash, rest = image.partition("/")
    is_host = bool(slash) and (any(sign in first for sign in ".:") or first == "localhost")
    is_host = is_host or first != first.lower()
    found = _IMAGE.fullmatch(rest if slash and is_host else image)
    if found is None or (slash and is_host and not _HOST.fullmatch(first)):
        return "IfNotPresent"
    tag, digest = found["tag"], found["digest"]
    return "Always" if tag == "latest" or not (tag or digest) else "IfNotPresent"


_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"{_PART}(?:/{_PART})*(?::(?P<tag>\w[\w.-]{{0,127}}))?"
    r"(?:@(?P<digest>sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}|sha384:[0-9a-f]{96}))?"
)
_HOST = re.compile(
    r"[a-zA-Z0-9](?:[a-zA-Z0-9-.]*[a-zA-Z0-9])?(?::[0-9]+)?|\[[0-9a-fA-F:]+\](?::\d+)?"
)


def _default_probe(probe: Object) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if "httpGet" in probe:
        _default_get(probe["httpGet"])
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


def _default_get(action: Object) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


_VOLUME_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "configMap": {"defaultMode": 420},
    "secret": {"defaultMode": 420},
    "projected": {"defaultMode": 420},
    "downwardAPI": {"defaultMode": 420},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
}


def default_sources(holder: Object) -> None:
    """Fill in what a volume's sources leave out, be it a pod's or a persistent one."""
    for source, defaults in _VOLUME_DEFAULTS.items():
        if source in holder:
            for name, value in defaults.items():
                holder[source].setdefault(name, value)


def _default_volume(volume: Object) -> None:
    if all(key == "name" for key in volume):
        volume["emptyDir"] = {}
    default_sources(volume)
    if "ephemeral" in volume:
        claim = volume["ephemeral"].get("volumeClaimTemplate") or {}
        claim.get("spec", {}).setdefault("volumeMode", "Filesystem")
    projections = (volume.get("projected") or {}).get("sources") or ()
    for holder in (volume, *projections):
        for file in (holder.get("downwardAPI") or {}).get("items") or ():
            _default_reference(file)
    for projection in projections:
        if "serviceAccountToken" in projection:
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)
