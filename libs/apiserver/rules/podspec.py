"""Defaults of pod specs, alone and in templates.

Source: Kubernetes API reference, PodSpec and Container; defaulting as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

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
        _default_container(container, host_network=bool(spec.get("hostNetwork")))
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
    if resources and resources.get("limits"):
        _default_pod_requests(spec, resources)


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


def _default_pod_requests(spec: Object, resources: Object) -> None:
    requests = resources.setdefault("requests", {})
    for name, limit in resources["limits"].items():
        if name not in requests and not any(
            name in container["resources"].get("requests", {})
            for container in spec.get("containers") or ()
        ):
            requests[name] = limit


def _round_resources(resources: Object) -> None:
    for side in ("limits", "requests"):
        if side in resources:
            round_up(resources[side])


def _default_container(container: Object, *, host_network: bool) -> None:
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    for port in container.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if host_network:
            port.setdefault("hostPort", port.get("containerPort", 0))
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if probe in container:
            _default_probe(container[probe])
    for variable in container.get("env", ()):
        source = variable.get("valueFrom") or {}
        if "fieldRef" in source:
            source["fieldRef"].setdefault("apiVersion", "v1")
        if "resourceFieldRef" in source:
            source["resourceFieldRef"].setdefault("divisor", "0")
    _round_resources(container.get("resources", {}))


def pull_policy(image: str) -> str:
    """Return the default pull policy: Always for the tag latest or none at all."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


def _default_probe(probe: Object) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if "httpGet" in probe:
        probe["httpGet"].setdefault("path", "/")
        probe["httpGet"].setdefault("scheme", "HTTP")
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")


_VOLUME_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "configMap": {"defaultMode": 420},
    "secret": {"defaultMode": 420},
    "projected": {"defaultMode": 420},
    "downwardAPI": {"defaultMode": 420},
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {
        "cachingMode": "ReadWrite",
        "fsType": "ext4",
        "readOnly": False,
        "kind": "Shared",
    },
}


def _default_volume(volume: Object) -> None:
    sources = [key for key in volume if key != "name"]
    if not sources:
        volume["emptyDir"] = {}
    for source in sources:
        for name, value in _VOLUME_DEFAULTS.get(source, {}).items():
            volume[source].setdefault(name, value)
    if "ephemeral" in volume:
        claim = volume["ephemeral"].get("volumeClaimTemplate") or {}
        claim.get("spec", {}).setdefault("volumeMode", "Filesystem")
    for projection in (volume.get("projected") or {}).get("sources", ()) or ():
        if "serviceAccountToken" in projection:
            projection["serviceAccountToken"].setdefault("expirationSeconds", 3600)
