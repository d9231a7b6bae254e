"""Objects that tests create: valid, small, and alike on every cluster."""

from typing import Any

Object = dict[str, Any]

IMAGE = "registry.k8s.io/pause:3.10"


def metadata(name: str, **more: Any) -> Object:
    """Return the metadata of an object."""
    return {"name": name, **more}


def a_container(**fields: Any) -> Object:
    """Return a container."""
    return {"name": "c", "image": IMAGE, **fields}


def a_pod_spec(**fields: Any) -> Object:
    """Return a pod's spec whose pod nobody schedules, unless `schedulerName` says otherwise."""
    quiet = {"schedulerName": "nobody", "automountServiceAccountToken": False}
    return {"containers": [a_container()], **quiet, **fields}


def a_pod(name: str = "p", *, labels: Object | None = None, **spec: Any) -> Object:
    """Return a pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(name, labels=labels or {"app": "a"}),
        "spec": a_pod_spec(**spec),
    }


def a_config_map(name: str = "m", **data: str) -> Object:
    """Return a ConfigMap."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(name),
        "data": data or {"a": "1"},
    }


def a_template(**spec: Any) -> Object:
    """Return a pod template with the label `app: a`."""
    return {"metadata": {"labels": {"app": "a"}}, "spec": a_pod_spec(**spec)}


def a_workload(kind: str, name: str = "w", **spec: Any) -> Object:
    """Return a Deployment, ReplicaSet, StatefulSet or DaemonSet."""
    selector = {"matchLabels": {"app": "a"}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata(name),
        "spec": {"selector": selector, "template": a_template(), **spec},
    }


def a_job(name: str = "j", **spec: Any) -> Object:
    """Return a Job."""
    template = {"spec": a_pod_spec(restartPolicy="Never")}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata(name),
        "spec": {"template": template, **spec},
    }


def a_budget(name: str = "b", **spec: Any) -> Object:
    """Return a PodDisruptionBudget of the pods with `app: a`."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(name),
        "spec": {"selector": {"matchLabels": {"app": "a"}}, **spec},
    }


def a_definition(group: str, schema: Object, **version: Any) -> Object:
    """Return a CRD of kind Thing, whose objects have this schema beside metadata."""
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    served = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": schema}},
        **version,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(f"things.{group}"),
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


def at(value: Any, path: str) -> Any:
    """Return the member at a dotted path, items by their number; None where there is none."""
    for step in path.split("."):
        if isinstance(value, list):
            value = value[int(step)] if step.isdigit() and int(step) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value
