"""A pod as the filters see it: read once from its object, then only looked at.

Apart because bound and pending pods are read by the same rules, but for resizes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from libs.oracle.affinity_terms import (
    AffinityTerm,
    preferences,
    required_affinity,
    required_anti_affinity,
)
from libs.oracle.objects import (
    KubeObject,
    key_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from libs.oracle.requests import is_sidecar, pod_requests, scoring_requests


class HostPort(NamedTuple):
    """A port taken on the node's own addresses."""

    ip: str
    protocol: str
    port: int


class ClaimReference(NamedTuple):
    """A PersistentVolumeClaim that the pod mounts."""

    key: str
    name: str
    is_ephemeral: bool
    """The pod asks for a claim of its own, which a controller creates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """What the filters read of a pod."""

    obj: KubeObject
    key: str
    namespace: str
    labels: Mapping[str, str]
    node_name: str
    """Empty while pending."""
    is_terminating: bool
    requests: Mapping[str, int]
    """Cpu in millicores, all else in whole units; zeroes left out."""
    host_ports: tuple[HostPort, ...]
    claims: tuple[ClaimReference, ...]
    anti_affinity: tuple[AffinityTerm, ...]
    """The required terms, which hold against newcomers once the pod is bound."""
    affinity: tuple[AffinityTerm, ...]
    """The required terms."""
    preferences: tuple[tuple[int, AffinityTerm], ...]
    """The preferred terms with their weights, those of anti-affinity negative."""
    scoring_requests: Mapping[str, int]
    """Cpu and memory as the score counts them."""

    @property
    def spec(self) -> KubeObject:
        """The object's spec."""
        return spec_of(self.obj)


def read_pod(obj: KubeObject) -> Pod:
    """Read a pod object.

    Raises:
        InvalidRequest: a quantity or a selector in it is malformed.
    """
    metadata = metadata_of(obj)
    spec = spec_of(obj)
    node_name = spec.get("nodeName") or ""
    requests = pod_requests(obj, resized=bool(node_name))
    return Pod(
        obj=obj,
        key=key_of(obj),
        namespace=namespace_of(obj),
        labels=labels_of(obj),
        node_name=node_name,
        is_terminating=bool(metadata.get("deletionTimestamp")),
        requests=requests,
        host_ports=tuple(_host_ports(spec)),
        claims=tuple(_claims(obj)) if spec.get("volumes") else (),
        anti_affinity=required_anti_affinity(obj),
        affinity=required_affinity(obj),
        preferences=preferences(obj),
        scoring_requests=scoring_requests(obj, requests),
    )


def is_finished(obj: KubeObject) -> bool:
    """Tell whether the pod ended for good and takes nothing any more."""
    return status_of(obj).get("phase") in ("Succeeded", "Failed")


def _host_ports(spec: KubeObject) -> list[HostPort]:
    containers = [
        *(spec.get("containers") or ()),
        *(container for container in spec.get("initContainers") or () if is_sidecar(container)),
    ]
    # On the host's network the API server sets each missing hostPort to the containerPort.
    on_host = bool(spec.get("hostNetwork"))
    return [
        HostPort(port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", number)
        for container in containers
        for port in container.get("ports") or ()
        if (number := port.get("hostPort") or (on_host and port.get("containerPort")) or 0)
    ]


def _claims(obj: KubeObject) -> list[ClaimReference]:
    claims = []
    for volume in spec_of(obj).get("volumes") or ():
        if claim := volume.get("persistentVolumeClaim"):
            name, is_ephemeral = claim.get("claimName", ""), False
        elif volume.get("ephemeral"):
            name, is_ephemeral = f"{name_of(obj)}-{volume.get('name', '')}", True
        else:
            continue
        claims.append(ClaimReference(f"{namespace_of(obj)}/{name}", name, is_ephemeral))
    return claims
