"""Validation of leases.

Source: Kubernetes API reference, LeaseSpec; wordings as recorded from kube-apiserver 1.36.
"""

from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import formed, not_negative
from libs.apiserver.field_errors import FieldError, not_allowed, not_supported, wrong

Object = dict[str, Any]


def validate(lease: Object) -> list[FieldError]:
    """Return what is wrong with a Lease."""
    spec = lease["spec"]
    found: list[FieldError] = []
    if spec.get("leaseDurationSeconds", 1) <= 0:
        why = "must be greater than 0"
        found.append(wrong("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], why))
    found += not_negative(spec, "spec", "leaseTransitions")
    strategy = spec.get("strategy")
    if strategy is not None and "/" in strategy:
        found += formed(strategy, "spec.strategy.strategy", names.qualified_name)
    elif strategy is not None and strategy != "OldestEmulationVersion":
        at = "spec.strategy.strategy"
        found.append(not_supported(at, strategy, ("OldestEmulationVersion",)))
    if spec.get("preferredHolder") and not strategy:
        why = "may only be specified if `strategy` is defined"
        found.append(not_allowed("spec.preferredHolder", why))
    return found
