"""Small Kubernetes objects for the oracle's tests: valid by default, overridden by keyword."""

from typing import Any

Obj = dict[str, Any]


def node(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Obj:
    allocatable = spec.pop("allocatable", {"cpu": "4", "memory": "8Gi", "pods": "10"})
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod(name: str, *, labels: dict[str, str] | None = None, **spec: Any) -> Obj:
    requests = spec.pop("requests", {"cpu": "1"})
    container = {"name": "main", "resources": {"requests": requests}}
    if ports := spec.pop("ports", None):
        container["ports"] = ports
    return {
        "metadata": {"name": name, "namespace": "default", "labels": labels or {}},
        "spec": {"containers": [container], **spec},
    }


def anti_affinity(app: str, key: str = "kubernetes.io/hostname") -> Obj:
    return {"podAntiAffinity": _required(app, key)}


def affinity(app: str, key: str = "kubernetes.io/hostname") -> Obj:
    return {"podAffinity": _required(app, key)}


def spread(app: str, key: str = "zone", **fields: Any) -> list[Obj]:
    return [
        {
            "topologyKey": key,
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": app}},
            **fields,
        }
    ]


def mounts(*claims: str) -> list[Obj]:
    return [{"name": c, "persistentVolumeClaim": {"claimName": c}} for c in claims]


def claim(name: str, *, class_name: str = "late", **spec: Any) -> Obj:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "resources": {"requests": {"storage": "1Gi"}},
            **spec,
        },
    }


def storage_class(name: str = "late", **fields: Any) -> Obj:
    return {
        "metadata": {"name": name},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        **fields,
    }


def volume(name: str, *, class_name: str = "late", **spec: Any) -> Obj:
    return {
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class_name,
            "capacity": {"storage": "1Gi"},
            **spec,
        },
        "status": {"phase": "Available"},
    }


def _required(app: str, key: str) -> Obj:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
