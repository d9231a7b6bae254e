"""What the API server warns of in a persistent volume.

Source: Kubernetes API reference, PersistentVolumeSpec; wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver.checks import Stored
from libs.apiserver.rules.pod_warnings import OLD_VOLUMES, deprecated_labels

Object = dict[str, Any]
_ANNOTATIONS: Mapping[str, str] = MappingProxyType(
    {
        "volume.beta.kubernetes.io/storage-class": (
            'deprecated since v1.8; use "storageClassName" attribute instead'
        ),
        "volume.beta.kubernetes.io/mount-options": (
            'deprecated since v1.31; use "mountOptions" attribute instead'
        ),
    }
)
_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "cephfs": "cephfs",
        "photonPersistentDisk": "photonPersistentDisk",
        "scaleIO": "scaleIO",
        "storageos": "storageOS",
        "glusterfs": "glusterfs",
        "rbd": "rbd",
    }
)
"""Sources that do not work any more, with the names that they are shown by."""


def warnings(obj: Object, _old: Stored | None) -> list[str]:
    """Return what is odd about a persistent volume."""
    return list(_find(obj["metadata"], obj["spec"]))


def _find(meta: Stored, spec: Stored) -> Iterator[str]:
    for key, why in _ANNOTATIONS.items():
        if key in (meta.get("annotations") or {}):
            yield f"metadata.annotations[{key}]: {why}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    for index, term in enumerate(required.get("nodeSelectorTerms") or ()):
        place = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        yield from deprecated_labels(term, place)
    for name, shown in _SOURCES.items():
        if name in spec:
            yield f"spec.{shown}: {OLD_VOLUMES[name]}"
