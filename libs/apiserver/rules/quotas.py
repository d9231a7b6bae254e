"""Validation of what bounds a namespace: quotas and ranges of limits.

Source: Kubernetes API reference, ResourceQuotaSpec, LimitRangeSpec; wordings as recorded from
kube-apiserver 1.36.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import FieldError, duplicate, not_allowed, required, wrong
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.resources import (
    COUNTED,
    HUGE,
    container_resource,
    is_native,
    resource_name,
    validate_quantity,
)
from libs.domain import quantity_text

Object = dict[str, Any]
_COMPUTE = tuple(
    side + name
    for side in ("", "requests.", "limits.")
    for name in ("cpu", "memory", "ephemeral-storage")
)
_STANDARD = frozenset((*_COMPUTE, *COUNTED, "requests.storage"))
_OF_PODS = frozenset(("pods", *(name for name in _COMPUTE if "ephemeral" not in name)))
_SCOPES = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
)
_EXISTS_ONLY = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "CrossNamespacePodAffinity",
)
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
    "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
    "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_CONFLICTS = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_SIDES = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_TYPES = ("Container", "PersistentVolumeClaim", "Pod")


def validate_quota(obj: Object) -> list[FieldError]:
    """Return what is wrong with a ResourceQuota."""
    spec = obj["spec"]
    hard, scopes = spec.get("hard") or {}, spec.get("scopes") or ()
    found = list(_validate_hard(hard, "spec.hard"))
    for scope in scopes:
        if scope not in _SCOPES:
            found.append(wrong("spec.scopes", scopes, "unsupported scope"))
        found += [wrong("spec.scopes", scopes, _NOT_FOR)] * _misfits(hard, scope)
    for pair in _CONFLICTS:
        if pair <= set(scopes):
            found.append(wrong("spec.scopes", scopes, "conflicting scopes"))
    if "scopeSelector" in spec:
        found += _validate_selector(spec, hard)
    return found


def validate_quota_status(new: Object, _old: Stored) -> list[FieldError]:
    """Return what is wrong with what is reported of a ResourceQuota."""
    return [
        one
        for side in ("hard", "used")
        for one in _validate_hard(new["status"].get(side) or {}, f"status.{side}")
    ]


def _validate_hard(amounts: Mapping[str, str], at: str) -> Iterator[FieldError]:
    for name, text in amounts.items():
        yield from _quota_resource(name, f"{at}[{name}]")
        yield from validate_quantity(name, text, f"{at}[{name}]")


_NOT_FOR = "unsupported scope applied to resource"


def _quota_resource(name: str, at: str) -> Iterator[FieldError]:
    yield from resource_name(name, at)
    if "/" not in name and not _is_standard(name):
        yield wrong(at, name, "must be a standard resource for quota")


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith((HUGE, f"requests.{HUGE}"))


def _misfits(hard: Mapping[str, str], scope: str) -> int:
    """Return how many resources a scope does not apply to."""
    return sum(1 for name in hard if _is_standard(name) and not _applies(scope, name))


def _applies(scope: str, name: str) -> bool:
    if scope in ("Terminating", "NotTerminating", "NotBestEffort", "PriorityClass"):
        return name in _OF_PODS
    if scope == "CrossNamespacePodAffinity":
        return name in _OF_PODS
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in ("persistentvolumeclaims", "requests.storage")
    return True


def _validate_selector(spec: Stored, hard: Mapping[str, str]) -> Iterator[FieldError]:
    at, selector = "spec.scopeSelector.matchExpressions", spec["scopeSelector"]
    entries = selector.get("matchExpressions") or ()
    for entry in entries:
        scope, operator = entry.get("scopeName", ""), entry.get("operator", "")
        if scope not in _SCOPES:
            yield wrong(f"{at}.scopeName", scope, "unsupported scope")
        yield from [wrong(at, _internal(entries), _NOT_FOR)] * _misfits(hard, scope)
        if scope in _EXISTS_ONLY and operator != "Exists":
            yield wrong(f"{at}.operator", operator, _MUST_EXIST)
        yield from _validate_operator(entry, at)
    scopes = {entry.get("scopeName", "") for entry in entries}
    for pair in _CONFLICTS:
        if pair <= scopes:
            yield wrong(at, spec.get("scopes"), "conflicting scopes")


def _internal(entries: Any) -> Mapping[str, Any]:
    shown = [
        {
            "ScopeName": entry.get("scopeName", ""),
            "Operator": entry.get("operator", ""),
            "Values": entry.get("values"),
        }
        for entry in entries
    ]
    return {"MatchExpressions": shown}


def _validate_operator(entry: Stored, at: str) -> Iterator[FieldError]:
    operator, values = entry.get("operator", ""), entry.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            yield required(f"{at}.values", why)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            yield wrong(f"{at}.values", values, why)
    else:
        yield wrong(f"{at}.operator", operator, "not a valid selector operator")


def fixed_scopes(new: Object, old: Stored) -> list[FieldError]:
    """Refuse other scopes of a quota."""
    after, before = new["spec"].get("scopes") or (), old["spec"].get("scopes") or ()
    if set(after) == set(before):
        return []
    return [wrong("spec.scopes", new["spec"].get("scopes"), IMMUTABLE)]


def validate_limits(obj: Object) -> list[FieldError]:
    """Return what is wrong with a LimitRange."""
    found: list[FieldError] = []
    seen: set[str] = set()
    for index, limit in enumerate(obj["spec"].get("limits") or ()):
        at, kind = f"spec.limits[{index}]", limit.get("type", "")
        found += _limit_type(kind, f"{at}.type")
        if kind in seen:
            found.append(duplicate(f"{at}.type", kind))
        seen.add(kind)
        found += _validate_names(limit, at, kind)
        sides = _SIDES if kind != "Pod" else ("max", "min", "maxLimitRequestRatio")
        amounts = {side: limit.get(side) or {} for side in sides}
        for name in sorted({name for side in amounts.values() for name in side}):
            found += _validate_amounts(amounts, name, at)
    return found


def _limit_type(kind: str, at: str) -> Iterator[FieldError]:
    found = list(formed(kind, at, names.qualified_name))
    yield from found
    if not found and "/" not in kind and kind not in _TYPES:
        yield wrong(at, kind, "must be a standard limit type or fully qualified")


def _validate_names(limit: Stored, at: str, kind: str) -> Iterator[FieldError]:
    check = container_resource if kind in ("Pod", "Container") else resource_name
    for side in _SIDES:
        amounts = limit.get(side) or {}
        if kind == "Pod" and side in ("default", "defaultRequest"):
            if amounts:
                yield not_allowed(f"{at}.{side}", "may not be specified when `type` is 'Pod'")
            continue
        for name in amounts:
            yield from check(name, f"{at}.{side}[{name}]")
    bounds = {*(limit.get("min") or ()), *(limit.get("max") or ())}
    if kind == "PersistentVolumeClaim" and "storage" not in bounds:
        why = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{at}.limits", why)


_ORDERED = (
    ("min", "max", "min", "min", "min value {} is greater than max value {}"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min value {} is greater than default request value {}",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than max value {}",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request value {} is greater than default limit value {}",
    ),
    ("min", "default", "default", "min", "min value {} is greater than default value {}"),
    ("default", "max", "default", "max", "default value {} is greater than max value {}"),
)
"""What must not exceed what, the field that is named, the value that is shown, the words."""


def _validate_amounts(
    amounts: Mapping[str, Mapping[str, str]], name: str, at: str
) -> Iterator[FieldError]:
    own = {side: given[name] for side, given in amounts.items() if name in given}
    for lower, upper, field, shown, words in _ORDERED:
        if lower in own and upper in own and _number(own[lower]) > _number(own[upper]):
            why = words.format(own[lower], own[upper])
            yield wrong(f"{at}.{field}[{name}]", own[shown], why)
    yield from _validate_ratio(own, f"{at}.maxLimitRequestRatio[{name}]")
    pair = own.get("default"), own.get("defaultRequest")
    may_differ = is_native(name) and not name.startswith(HUGE)
    if not may_differ and pair[0] and pair[1] and _number(pair[0]) != _number(pair[1]):
        why = f"default value {pair[0]} must equal to defaultRequest value {pair[1]} in {name}"
        yield wrong(f"{at}.defaultRequest[{name}]", pair[1], why)


def _validate_ratio(own: Mapping[str, str], at: str) -> Iterator[FieldError]:
    ratio = own.get("maxLimitRequestRatio")
    if ratio is None:
        return
    if _number(ratio) < 1:
        yield wrong(at, ratio, f"ratio {ratio} is less than 1")
    least, most = own.get("min"), own.get("max")
    if least is not None and most is not None and _number(least):
        bound = _number(most) / _number(least)
        if _number(ratio) > bound:
            yield wrong(at, ratio, f"ratio {ratio} is greater than max/min = {float(bound):f}")


def _number(text: str) -> Decimal:
    return quantity_text.value(text)
