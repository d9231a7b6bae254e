"""The nodes and pods that the benchmark makes, as the JSON texts that clients send."""

import json
from typing import Any

NAMESPACE = "default"
NODES = "/api/v1/nodes"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
STAMP = "bench.joiner.io/sent"
"""Annotation by which a watcher knows when a change was sent."""

_ZONES = 3
_TEMPLATES = 100
"""Of so many Deployments the pods are."""


def node(number: int) -> bytes:
    """Return a node that boots; its capacity is that of a large machine."""
    size = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    labels = {
        "kubernetes.io/hostname": node_name(number),
        "topology.kubernetes.io/zone": f"zone-{number % _ZONES}",
        "node.kubernetes.io/instance-type": "bench.16xlarge",
    }
    return _text(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": node_name(number),
                "labels": labels,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "status": {"capacity": size, "allocatable": size},
        }
    )


def node_name(number: int) -> str:
    """Return the name of a node."""
    return f"node-{number:05d}"


def bound_pod(number: int, nodes: int) -> bytes:
    """Return a pod that is on a node from the beginning, so that its kubelet runs it."""
    return _text(_pod(f"run-{number:06d}", number, {"nodeName": node_name(number % nodes)}))


def idle_pod(number: int) -> bytes:
    """Return a pod that no scheduler takes."""
    return _text(_pod(f"idle-{number:06d}", number, {"schedulerName": "nobody"}))


def pod_path(number: int) -> str:
    """Return where a running pod is."""
    return f"{PODS}/run-{number:06d}"


def stamped(instant: float) -> bytes:
    """Return a merge patch that writes when it was sent."""
    return _text({"metadata": {"annotations": {STAMP: repr(instant)}}})


def _pod(name: str, number: int, spec: dict[str, Any]) -> dict[str, Any]:
    template = number % _TEMPLATES
    container = {
        "name": "main",
        "image": f"registry.example/app-{template}:v1",
        "env": [{"name": "ROLE", "value": "worker"}],
        "ports": [{"containerPort": 8080}],
        "resources": {
            "requests": {"cpu": f"{100 + template}m", "memory": "128Mi"},
            "limits": {"memory": "256Mi"},
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"app": f"app-{template}", "tier": "bench"},
        },
        "spec": {**spec, "containers": [container]},
    }


def _text(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode()
