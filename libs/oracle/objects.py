"""Access to plain Kubernetes objects (JSON as mappings): names, keys, labels.

Apart because every other module starts here. A missing member and `null` mean the same everywhere.
"""

from collections.abc import Mapping
from typing import Any

KubeObject = Mapping[str, Any]
"""A Kubernetes object, or a part of one, as decoded from JSON."""


def metadata_of(obj: KubeObject) -> KubeObject:
    """Return `metadata`, empty if absent."""
    return obj.get("metadata") or {}


def spec_of(obj: KubeObject) -> KubeObject:
    """Return `spec`, empty if absent."""
    return obj.get("spec") or {}


def status_of(obj: KubeObject) -> KubeObject:
    """Return `status`, empty if absent."""
    return obj.get("status") or {}


def name_of(obj: KubeObject) -> str:
    """Return the object's name, empty if absent."""
    return str(metadata_of(obj).get("name") or "")


def namespace_of(obj: KubeObject) -> str:
    """Return the object's namespace; absent means `default`, as for `kubectl`."""
    return metadata_of(obj).get("namespace") or "default"


def labels_of(obj: KubeObject) -> Mapping[str, str]:
    """Return the object's labels, empty if absent."""
    return metadata_of(obj).get("labels") or {}


def annotations_of(obj: KubeObject) -> Mapping[str, str]:
    """Return the object's annotations, empty if absent."""
    return metadata_of(obj).get("annotations") or {}


def storage_class_of(obj: KubeObject) -> str:
    """Return the class of a claim or volume, empty for none; the annotation of old comes first."""
    named = annotations_of(obj).get("volume.beta.kubernetes.io/storage-class")
    return str((spec_of(obj).get("storageClassName") if named is None else named) or "")


def key_of(obj: KubeObject) -> str:
    """Return `namespace/name`, the key of namespaced objects."""
    return f"{namespace_of(obj)}/{name_of(obj)}"


def priority_of(pod: KubeObject) -> int:
    """Return the priority of a pod."""
    return int(spec_of(pod).get("priority") or 0)
