"""Priority classes: what is wrong with them.

Source: Kubernetes API reference, PriorityClass; wordings as recorded from kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver.checks import one_of
from libs.apiserver.field_errors import FieldError, not_allowed

Object = dict[str, Any]
HIGHEST_PRIORITY = 1_000_000_000
_OWN: Mapping[str, int] = MappingProxyType(
    {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
)
"""Kubernetes' own classes, with what their pods are worth."""

_RESERVED = "priority class names with 'system-' prefix are reserved for system use only"


def validate(obj: Object) -> list[FieldError]:
    """Check that only Kubernetes' own classes go beyond the highest priority of users."""
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    found = list(one_of(obj, "", "preemptionPolicy", ("PreemptLowerPriority", "Never")))
    if name.startswith("system-"):
        return [*found, *_validate_own(obj, name)]
    if value <= HIGHEST_PRIORITY:
        return found
    why = f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
    return [*found, not_allowed("value", why)]


def _validate_own(obj: Object, name: str) -> Iterator[FieldError]:
    if name not in _OWN:
        why = f"error: {name} is not a known system priority class"
    elif obj.get("value", 0) != _OWN[name]:
        why = f"error: value of {name} PriorityClass must be {_OWN[name]}"
    elif obj.get("globalDefault"):
        why = f"error: globalDefault of {name} PriorityClass must be false"
    else:
        return
    yield not_allowed("metadata.name", f"{_RESERVED}. {why}")
