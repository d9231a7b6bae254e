"""The StorageObjectInUseProtection plug-in: claims and volumes begin with a finalizer.

Source: Kubernetes documentation, "Storage Object in Use Protection".
"""

from typing import Any

from services.simulator.core.api.resources import Resource

FINALIZERS = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
}


def protect(_reader: Any, resource: Resource, obj: dict[str, Any]) -> None:
    """Keep a new claim or volume until the protection controller lets it go."""
    finalizer = FINALIZERS.get(resource.qualified)
    if finalizer is None:
        return
    finalizers = obj["metadata"].setdefault("finalizers", [])
    if finalizer not in finalizers:
        finalizers.append(finalizer)
