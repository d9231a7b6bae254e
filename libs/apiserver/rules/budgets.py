"""Validation of disruption budgets.

Source: Kubernetes API reference, PodDisruptionBudget; wordings as recorded from kube-apiserver
1.36.
"""

from typing import Any

from libs.apiserver.checks import one_of
from libs.apiserver.field_errors import FieldError, wrong
from libs.apiserver.rules.selectors import validate_selector
from libs.apiserver.rules.workloads import at_most_all, validate_share

Object = dict[str, Any]
_SHARES = ("minAvailable", "maxUnavailable")


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a PodDisruptionBudget."""
    spec = obj["spec"]
    found: list[FieldError] = []
    if all(name in spec for name in _SHARES):
        why = "minAvailable and maxUnavailable cannot be both set"
        found.append(wrong("spec", _internal(spec), why))
    for name in _SHARES:
        if name in spec:
            found += validate_share(spec[name], f"spec.{name}")
            found += at_most_all(spec[name], f"spec.{name}")
    found += validate_selector(spec.get("selector"), "spec.selector")
    policies = ("AlwaysAllow", "IfHealthyBudget")
    return [*found, *one_of(spec, "spec", "unhealthyPodEvictionPolicy", policies)]


def _internal(spec: Object) -> Object:
    names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
    return {name[0].upper() + name[1:]: spec.get(name) for name in names}
