"""Kubernetes objects as a user applies them, small and valid."""

from typing import Any

Object = dict[str, Any]

CLAIMS = "nodeclaims.karpenter.sh"
POOLS = "nodepools.karpenter.sh"
CLASSES = "kwoknodeclasses.karpenter.kwok.sh"


def a_class(name: str = "default") -> Object:
    """Return a class of the KWOK provider."""
    return {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": name},
        "spec": {},
    }


def a_pool(name: str = "default", *, node_class: str = "default", **spec: Any) -> Object:
    """Return a pool of small nodes that go soon after their last pod."""
    small = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["small"]}
    template = {
        "nodeClassRef": {
            "group": "karpenter.kwok.sh",
            "kind": "KWOKNodeClass",
            "name": node_class,
        },
        "requirements": [small],
    }
    disruption = {
        "consolidationPolicy": "WhenEmpty",
        "consolidateAfter": "5s",
        "budgets": [{"nodes": "100%"}],
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": template}, "disruption": disruption, **spec},
    }


def a_workload(name: str, replicas: int, cpu: str) -> Object:
    """Return a Deployment in the default namespace."""
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]},
            },
        },
    }
