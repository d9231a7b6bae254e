"""Storage classes and volumes: their defaults, and what is wrong with them.

Source: Kubernetes API reference, StorageClass and PersistentVolumeSpec; wordings as recorded from
kube-apiserver 1.36, those of volumes from its documentation.
"""

from typing import Any

from libs.apiserver.checks import NOT_NEGATIVE
from libs.apiserver.field_errors import FieldError, not_supported, required, wrong
from libs.apiserver.rules.selectors import validate_node_selector
from libs.domain import quantity_text

Object = dict[str, Any]


def default_class(obj: Object) -> None:
    """Fill in the defaults of a StorageClass."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def validate_class(obj: Object) -> list[FieldError]:
    """Check a StorageClass."""
    errors = []
    if not obj.get("provisioner"):
        errors.append(required("provisioner"))
    if obj["reclaimPolicy"] not in ("Delete", "Retain"):
        errors.append(not_supported("reclaimPolicy", obj["reclaimPolicy"], ("Delete", "Retain")))
    modes = ("Immediate", "WaitForFirstConsumer")
    if obj["volumeBindingMode"] not in modes:
        errors.append(not_supported("volumeBindingMode", obj["volumeBindingMode"], modes))
    return errors


def validate_volume(obj: Object) -> list[FieldError]:
    """Return what is wrong with a persistent volume: its size, and where it may be used."""
    spec = obj["spec"]
    found = [
        wrong(f"spec.capacity[{name}]", text, NOT_NEGATIVE)
        for name, text in (spec.get("capacity") or {}).items()
        if quantity_text.value(text) < 0
    ]
    selector = (spec.get("nodeAffinity") or {}).get("required")
    if selector is not None:
        found += validate_node_selector(selector, "spec.nodeAffinity.required")
    return found
