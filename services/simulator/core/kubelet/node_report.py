"""What a kubelet says about its node: status, lease, CSINode; pure functions of the Node object.

Capacity that a node came without is filled in as KWOK does, so large that nothing fails for it.

Source: Kubernetes documentation, "Node Status", "Leases"; KWOK's default stages.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from services.simulator.core.api.frozen import thaw
from services.simulator.core.kubelet.fate import NodeFate
from services.simulator.core.objects import (
    LONG_AGO,
    Object,
    micro_stamp,
    owner_reference,
    span_of,
    stamp,
    with_condition,
)

PROVIDER = "kwok://"
FAKE_ANNOTATION = "kwok.x-k8s.io/node"
BOOT_ANNOTATION = "simulator.joiner.io/boot-seconds"
"""On a Node: after how many seconds it is ready, or `never`."""
KUBELET_ANNOTATION = "simulator.joiner.io/kubelet"
"""On a Node: `dead` while its kubelet shall do nothing."""
LEASE_NAMESPACE = "kube-node-lease"
LEASE_SECONDS = 40
VERSION = "v1.36.2"

_ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"
_FEATURES = ("RestartAllContainersOnContainerExits",)
"""What a kubelet of this version declares by default that decides where pods may run."""
_UNLIMITED = {"cpu": "1k", "memory": "1Ti", "pods": "1M"}
_HEALTH = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "memory is sufficient"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "disk space is sufficient"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "process ids are sufficient"),
)  # fmt: skip
_READY = ("Ready", "True", "KubeletReady", "kubelet is posting ready status")
_NOT_READY = (
    "Ready",
    "False",
    "KubeletNotReady",
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized",
)


def is_simulated(node: Mapping[str, Any]) -> bool:
    """Tell whether the node is one of ours."""
    annotations = node["metadata"].get("annotations") or {}
    provider_id = node["spec"].get("providerID") or ""
    return provider_id.startswith(PROVIDER) or annotations.get(FAKE_ANNOTATION) == "fake"


def fate_of(node: Mapping[str, Any], fate: NodeFate) -> NodeFate:
    """Return a node's fate with what its annotations say instead; what is misspelt says nothing."""
    annotations = node["metadata"].get("annotations") or {}
    boot = annotations.get(BOOT_ANNOTATION)
    if boot == "never":
        fate = replace(fate, boots=False)
    elif boot is not None:
        with contextlib.suppress(ValueError, OverflowError):
            span = span_of(max(0.0, float(boot)))
            fate = replace(fate, boot=span, boots=True)
    if annotations.get(KUBELET_ANNOTATION) == "dead":
        fate = replace(fate, dead_since=LONG_AGO, back_at=None)
    return fate


def address_of(node: Mapping[str, Any]) -> str | None:
    """Return the first address that stands on the node, if any."""
    for entry in node.get("status", {}).get("addresses") or ():
        return str(entry["address"])
    return None


def reported_status(node: Mapping[str, Any], address: str, now: datetime, *, ready: bool) -> Object:
    """Return what a kubelet reports of its node; what it came with stays."""
    status: Object = thaw(node.get("status") or {})
    for side in ("capacity", "allocatable"):
        status[side] = {**_UNLIMITED, **(status.get("capacity") or {}), **(status.get(side) or {})}
    conditions = status.get("conditions") or []
    for type_, value, reason, message in (*_HEALTH, _READY if ready else _NOT_READY):
        report = {"type": type_, "status": value, "reason": reason, "message": message}
        beat = {"lastHeartbeatTime": stamp(now)}
        conditions = with_condition(conditions, report, now, extra=beat)
    status["conditions"] = conditions
    status["addresses"] = status.get("addresses") or [
        {"type": "InternalIP", "address": address},
        {"type": "Hostname", "address": node["metadata"]["name"]},
    ]
    status["nodeInfo"] = {**_machine(node), **_told(status.get("nodeInfo") or {})}
    status["declaredFeatures"] = status.get("declaredFeatures") or list(_FEATURES)
    if ready:
        status["phase"] = "Running"
    return status


def _told(info: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in info.items() if value}


def _machine(node: Mapping[str, Any]) -> dict[str, str]:
    labels, uid = node["metadata"].get("labels") or {}, node["metadata"]["uid"]
    return {
        "architecture": labels.get("kubernetes.io/arch", "amd64"),
        "operatingSystem": labels.get("kubernetes.io/os", "linux"),
        "bootID": uid,
        "machineID": uid.replace("-", ""),
        "systemUUID": uid,
        "containerRuntimeVersion": "simulated://1.0",
        "kernelVersion": "simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "osImage": "Joiner simulator",
    }


def new_lease(node: Mapping[str, Any], now: datetime) -> Object:
    """Return the first lease of a node."""
    name = node["metadata"]["name"]
    reference = {
        key: value
        for key, value in owner_reference(node).items()
        if key not in ("controller", "blockOwnerDeletion")
    }
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [reference],
        },
        "spec": {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": micro_stamp(now),
        },
    }


def new_csi_node(node: Mapping[str, Any], limits: Mapping[str, int]) -> Object:
    """Return the CSINode of a node, whose drivers are those of `limits` and know its zone."""
    labels = node["metadata"].get("labels") or {}
    name = node["metadata"]["name"]
    reference = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
    drivers = [
        {
            "name": driver,
            "nodeID": name,
            "topologyKeys": [key for key in (_REGION, _ZONE) if key in labels],
            "allocatable": {"count": limit},
        }
        for driver, limit in sorted(limits.items())
    ]
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": name, "ownerReferences": [reference]},
        "spec": {"drivers": drivers},
    }
