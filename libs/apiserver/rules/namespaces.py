"""Validation of namespaces.

Source: Kubernetes API reference, NamespaceSpec; wordings as recorded from kube-apiserver 1.36.
"""

from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.metadata import BARE, is_bare

Object = dict[str, Any]


def validate(namespace: Object) -> list[FieldError]:
    """Return what is wrong with the finalizers that hold a namespace."""
    at = "spec.finalizers"
    found: list[FieldError] = []
    for name in namespace["spec"].get("finalizers") or ():
        found += formed(name, at, names.qualified_name)
        if is_bare(name):
            found.append(wrong(at, name, BARE))
    return found


def validate_status(new: Object, _old: Stored) -> list[FieldError]:
    """Return whether a namespace tells of another phase than the one it is in."""
    ends = bool(new["metadata"].get("deletionTimestamp"))
    phase, wanted = new["status"].get("phase", ""), "Terminating" if ends else "Active"
    if phase == wanted:
        return []
    why = f"may only be '{wanted}' if `deletionTimestamp` is {'not ' if ends else ''}empty"
    return [wrong("status.Phase", phase, why)]
