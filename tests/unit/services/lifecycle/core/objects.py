"""Objects for the tests of lifecycle's decisions: valid by default, written as in Kubernetes."""

from datetime import UTC, datetime, timedelta
from typing import Any

from libs.kube.objects.decoding import from_document
from libs.kube.objects.karpenter import NodeClaim, NodePool
from libs.kube.objects.node import Node
from libs.kube.objects.pod import Pod

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
GROUP = "karpenter.kwok.sh"


def at(span: timedelta = timedelta(0)) -> str:
    """Return an instant relative to `NOW` as Kubernetes writes it."""
    return (NOW + span).strftime("%Y-%m-%dT%H:%M:%SZ")


def a_condition(
    kind: str, status: str = "True", *, ago: timedelta = timedelta(0)
) -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": kind,
        "observedGeneration": 1,
        "lastTransitionTime": at(-ago),
    }


def a_claim(
    name: str = "c1", *, true: tuple[str, ...] = (), status: Any = None, **metadata: Any
) -> NodeClaim:
    """Return a claim of pool `default`; `true` are conditions that are True."""
    document = {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": at(-timedelta(hours=1)),
            "finalizers": ["karpenter.sh/termination"],
            **metadata,
            "labels": {"karpenter.sh/nodepool": "default", **metadata.get("labels", {})},
        },
        "spec": {
            "nodeClassRef": {"group": GROUP, "kind": "KWOKNodeClass", "name": "default"},
            "requirements": [],
            "resources": {"requests": {"cpu": "1"}},
            "expireAfter": "Never",
        },
        "status": {
            "conditions": [a_condition(kind, ago=timedelta(minutes=30)) for kind in true],
            **(status or {}),
        },
    }
    return from_document(document, NodeClaim)


def a_node(name: str = "n1", *, ready: bool = True, taints: Any = (), **metadata: Any) -> Node:
    document = {
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1", **metadata},
        "spec": {"providerID": "fake://1", "taints": list(taints)},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        },
    }
    return from_document(document, Node)


def a_pod(name: str = "p1", *, owner: str = "", phase: str = "Running", **parts: Any) -> Pod:
    """Return a pod; `owner` is `DaemonSet`, `StatefulSet` or `Node`; `spec` and metadata merge."""
    spec = parts.pop("spec", {})
    owners = []
    if owner:
        version = "v1" if owner == "Node" else "apps/v1"
        owners = [
            {"apiVersion": version, "kind": owner, "name": "o", "uid": "o", "controller": True}
        ]
    document = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "ownerReferences": owners,
            **parts,
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "c"}], **spec},
        "status": {"phase": phase, "startTime": at(-timedelta(minutes=10))},
    }
    return from_document(document, Pod)


def a_pool(name: str = "default", *, spec: Any = None, **metadata: Any) -> NodePool:
    template = {
        "spec": {
            "requirements": [],
            "nodeClassRef": {"group": GROUP, "kind": "KWOKNodeClass", "name": "default"},
            "expireAfter": "720h",
        }
    }
    document = {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": at(),
            **metadata,
        },
        "spec": {"template": template, **(spec or {})},
    }
    return from_document(document, NodePool)
