"""Kubernetes documents for tests: valid by default, parts of the spec by keyword."""

from typing import Any

from libs.kube.objects.decoding import from_document
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod

Document = dict[str, Any]

CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
WAITING = {
    "phase": "Pending",
    "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
}


def metadata(name: str, namespace: str = "", **more: Any) -> Document:
    found: Document = {"name": name, "uid": f"uid-{name}", **more}
    return {**found, "namespace": namespace} if namespace else found


def a_container(cpu: str | int | None = None, **more: Any) -> Document:
    """Return a container that asks for this much cpu."""
    requests = {} if cpu is None else {"cpu": cpu}
    return {"name": "main", "resources": {"requests": requests}, **more}


def a_pod(
    name: str = "web-0",
    *,
    labels: dict[str, str] | None = None,
    status: Document | None = None,
    meta: Document | None = None,
    **spec: Any,
) -> Document:
    """Return a pod that waits for a node; a `nodeName` makes it run."""
    spec = {"containers": [a_container("500m")], **spec}
    given = {"phase": "Running"} if spec.get("nodeName") else WAITING
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(name, "default", **{"labels": labels or {}, **(meta or {})}),
        "spec": spec,
        "status": given if status is None else status,
    }


def a_node(name: str = "node-a", *, meta: Document | None = None, **spec: Any) -> Document:
    status = spec.pop("status", {})
    resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, **(meta or {}).pop("labels", {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata(name, **{"labels": labels, **(meta or {})}),
        "spec": spec,
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
            **status,
        },
    }


def a_nodeclaim(
    name: str = "default-x1",
    *,
    meta: Document | None = None,
    status: Document | None = None,
    **spec: Any,
) -> Document:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": metadata(
            name, **{"labels": {"karpenter.sh/nodepool": "default"}, **(meta or {})}
        ),
        "spec": {"requirements": [], "nodeClassRef": CLASS, **spec},
        "status": status or {},
    }


def a_nodepool(name: str = "default", *, template: Document | None = None, **spec: Any) -> Document:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": metadata(name, generation=1),
        "spec": {
            "template": {"spec": {"requirements": [], "nodeClassRef": CLASS, **(template or {})}},
            **spec,
        },
    }


def an_object(api_version: str, kind: str, name: str, /, *parts: str, **fields: Any) -> Document:
    """Return any object; the optional part is its namespace."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata(name, *parts, **fields.pop("meta", {})),
        **fields,
    }


def pod(*args: Any, **more: Any) -> Pod:
    return from_document(a_pod(*args, **more), Pod)


def node(*args: Any, **more: Any) -> Node:
    return from_document(a_node(*args, **more), Node)
