"""What may change in `metadata`, and what an update carries over; the same for every kind.

Source: Kubernetes API conventions, "Metadata"; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.field_errors import FieldError, not_allowed, wrong
from libs.apiserver.metadata import IMMUTABLE, bare_finalizers, validate_maps
from libs.apiserver.metadata import validate as whole
from services.simulator.core.api.resources import Resource
from services.simulator.core.api.strategies.registry import strategy_of

Object = dict[str, Any]

_FIXED = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)

_NEITHER = frozenset({"poddisruptionbudgets.policy"})
"""Kinds whose own rules leave changed metadata alone."""

_WHOLE: Mapping[str, int] = MappingProxyType(
    {
        "limitranges": 1,
        "csinodes.storage.k8s.io": 1,
        "volumeattachments.storage.k8s.io": 1,
        "endpointslices.discovery.k8s.io": 1,
        "persistentvolumes": 2,
    }
)
"""Kinds whose own rules look at changed metadata as at new, and how often."""

_BOTH = frozenset(
    {
        *("pods", "nodes", "configmaps", "secrets", "serviceaccounts", "endpoints"),
        *("persistentvolumeclaims", "jobs.batch", "controllerrevisions.apps"),
        *("storageclasses.storage.k8s.io", "csistoragecapacities.storage.k8s.io"),
        *("volumeattributesclasses.storage.k8s.io", "runtimeclasses.node.k8s.io"),
        *("roles.rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io"),
        "rolebindings.rbac.authorization.k8s.io",
        "clusterrolebindings.rbac.authorization.k8s.io",
        *("deviceclasses.resource.k8s.io", "resourceclaims.resource.k8s.io"),
        *("resourceclaimtemplates.resource.k8s.io", "ingresses.networking.k8s.io"),
    }
)
"""Kinds whose own rules look at changed metadata as at new, and as at a change."""


def validate_update(
    new: Mapping[str, Any], old: Mapping[str, Any], *, custom: bool
) -> list[FieldError]:
    """Return what is wrong with changed metadata; `new` already carries over what it left out."""
    return _changes(new, old) + validate_maps(new, custom=custom)


def validate_again(
    resource: Resource, new: Mapping[str, Any], old: Mapping[str, Any], *, subresource: str
) -> list[FieldError]:
    """Return what is wrong with the changed metadata of a built-in kind.

    Kubernetes looks at it in the generic part, as whole and as a change, and again in each kind's
    own rules, where it is a change, a whole, or both: what is wrong is told as often.
    """
    strategy = strategy_of(resource)
    found = whole(new, names.path_segment, namespaced=False, custom=True) + _change(new, old)
    plain = strategy.plain_metadata
    name = resource.qualified
    if name in _NEITHER:
        return found
    if name not in _WHOLE or subresource:
        found += _change(new, old)
        if not plain:
            found += bare_finalizers(new.get("finalizers", ()))
    if not subresource:
        times = _WHOLE.get(name, 1 if name in _BOTH else 0)
        found += whole(new, strategy.check_name, namespaced=False, custom=plain) * times
    return found


def _change(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    without = {name: value for name, value in new.items() if name != "finalizers"}
    return _changes(new, old) + validate_maps(without, custom=True)


def _changes(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """Return what may not change and did."""
    errors: list[FieldError] = []
    added = [name for name in new.get("finalizers", ()) if name not in old.get("finalizers", ())]
    if old.get("deletionTimestamp") and added:
        listing = ", ".join(f'"{name}"' for name in added)
        message = (
            "no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{listing}}}"
        )
        errors.append(not_allowed("metadata.finalizers", message))
    return errors + [
        wrong(f"metadata.{field}", new.get(field, ""), IMMUTABLE)
        for field in _FIXED
        if new.get(field) != old.get(field)
    ]


def carry_over(new: Object, old: Mapping[str, Any]) -> None:
    """Keep what an update may leave out: uid, times, generation, and what only the server sets."""
    for field in ("uid", "deletionGracePeriodSeconds"):
        if field in old and field not in new:
            new[field] = old[field]
    for field in ("creationTimestamp", "deletionTimestamp"):
        if field in old:
            new[field] = old[field]
    for field in ("generation", "selfLink"):
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)
    if "namespace" in old:
        new.setdefault("namespace", old["namespace"])
    new.setdefault("name", old["name"])
    if "generateName" in old:
        new.setdefault("generateName", old["generateName"])
