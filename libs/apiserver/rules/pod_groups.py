"""Validation of PodGroups: which policy their pods are scheduled by, and how many a gang needs.

Apart from types that are served: files alone have such groups, those of scheduler plug-ins, too.

Source: Kubernetes API reference, PodGroupSpec; kube-apiserver 1.36; CRD of the scheduler plug-ins.
"""

from collections.abc import Iterator
from typing import Any

from libs.apiserver.field_errors import FieldError, required, wrong

Object = dict[str, Any]
_POLICIES = ("basic", "gang")


def validate(group: Object) -> list[FieldError]:
    """Return what is wrong with a group of Kubernetes' own."""
    return list(_validate_policy((group.get("spec") or {}).get("schedulingPolicy") or {}))


def validate_of_plugins(group: Object) -> list[FieldError]:
    """Return what is wrong with a group of scheduler plug-ins; without a number all may be."""
    least = (group.get("spec") or {}).get("minMember", 1)
    if least >= 1:
        return []
    return [wrong("spec.minMember", least, "should be greater than or equal to 1")]


def _validate_policy(policy: Object) -> Iterator[FieldError]:
    at = "spec.schedulingPolicy"
    chosen = [name for name in _POLICIES if policy.get(name) is not None]
    if len(chosen) != 1:
        shown = f"{{{', '.join(chosen)}}}" if chosen else ""
        yield wrong(at, shown, "must specify exactly one of: `basic`, `gang`")
    if "gang" not in chosen:
        return
    least = policy["gang"].get("minCount")
    if not least:
        yield required(f"{at}.gang.minCount")
    elif least < 1:
        yield wrong(f"{at}.gang.minCount", least, "must be greater than or equal to 1")
