"""Defaults and validation of HorizontalPodAutoscalers.

Source: Kubernetes API reference, HorizontalPodAutoscaler; wordings as recorded from kube-apiserver
1.36.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, one_of
from libs.apiserver.field_errors import FieldError, not_allowed, not_supported, required, wrong
from libs.apiserver.rules.resources import container_resource
from libs.domain import quantity_text

Object = dict[str, Any]
OLD = "autoscaling/v1"
_OLD_TARGET = "targetCPUUtilizationPercentage"
_LONGEST_WINDOW, _LONGEST_PERIOD = 3600, 1800
_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "Object": "object",
        "External": "external",
        "Pods": "pods",
        "Resource": "resource",
        "ContainerResource": "containerResource",
    }
)
"""Types of metrics and the field of each, in the order in which they are looked at."""

_TYPES = tuple(sorted(_SOURCES))
_TARGETS = ("Utilization", "Value", "AverageValue")
_EITHER = "must set either a target raw value or a target utilization"
_NOT_BOTH = "may not set both a target raw value and a target utilization"
_SCALE_UP = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_SCALE_DOWN = ({"type": "Percent", "value": 100, "periodSeconds": 15},)


def default(obj: Object) -> None:
    """Fill in the defaults of a HorizontalPodAutoscaler."""
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if obj.get("apiVersion") == OLD:
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        up = behavior.setdefault("scaleUp", {})
        up.setdefault("stabilizationWindowSeconds", 0)
        for rules, policies in (
            (up, _SCALE_UP),
            (behavior.setdefault("scaleDown", {}), _SCALE_DOWN),
        ):
            rules.setdefault("selectPolicy", "Max")
            if rules.get("policies") is None:
                rules["policies"] = [dict(policy) for policy in policies]


def widened(spec: Stored) -> Object:
    """Return the spec of an autoscaler of the old API as the new one has it."""
    kept = {name: value for name, value in spec.items() if name != _OLD_TARGET}
    if _OLD_TARGET in spec:
        target = {"type": "Utilization", "averageUtilization": spec[_OLD_TARGET]}
        kept["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    return kept


def validate(obj: Object) -> list[FieldError]:
    """Return what is wrong with a HorizontalPodAutoscaler."""
    spec = widened(obj["spec"]) if obj.get("apiVersion") == OLD else obj["spec"]
    found = list(_validate_bounds(spec))
    scaled = spec.get("scaleTargetRef") or {}
    # Of what the core API serves this alone can be scaled.
    is_core = scaled.get("kind") == "ReplicationController"
    found += _validate_reference(scaled, "spec.scaleTargetRef", may_be_core=is_core)
    for index, metric in enumerate(spec.get("metrics") or ()):
        found += _validate_metric(metric, f"spec.metrics[{index}]")
    for name in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(name)
        if rules is not None:
            found += _validate_rules(rules, f"spec.behavior.{name}")
    return found


def _validate_bounds(spec: Stored) -> Iterator[FieldError]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < 1:
        yield wrong("spec.minReplicas", least, "must be greater than or equal to 1")
    if most == 0:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield wrong("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield wrong("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    kinds = {metric.get("type") for metric in spec.get("metrics") or ()}
    if least == 0 and not kinds & {"Object", "External"}:
        why = "must specify at least one Object or External metric to support scaling to zero"
        yield not_allowed("spec.metrics", f"{why} replicas")


def _validate_reference(reference: Stored, at: str, *, may_be_core: bool) -> Iterator[FieldError]:
    for name in ("kind", "name"):
        if not reference.get(name):
            yield required(f"{at}.{name}")
        else:
            yield from formed(reference[name], f"{at}.{name}", names.path_segment)
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        yield wrong(f"{at}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif "/" not in version and not may_be_core:
        yield wrong(f"{at}.apiVersion", version, "apiVersion must specify API group")


def _validate_metric(metric: Stored, at: str) -> Iterator[FieldError]:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric source type")
    if kind not in _SOURCES:
        # It is looked at twice.
        yield from [not_supported(f"{at}.type", kind, _TYPES)] * 2
    found = [name for name in _SOURCES.values() if name in metric]
    for name in found[:1]:
        yield from _validate_source(metric[name], f"{at}.{name}", name)
    expected = _SOURCES.get(kind)
    if expected and expected not in metric:
        why = "must populate information for the given metric source"
        yield required(f"{at}.{expected}", why)
    for name in found if len(found) != 1 else ():
        if name != expected:
            yield not_allowed(f"{at}.{name}", "must populate the given metric source only")


def _validate_source(source: Stored, at: str, kind: str) -> Iterator[FieldError]:
    if kind == "object":
        described = source.get("describedObject") or {}
        yield from _validate_reference(described, f"{at}.describedObject", may_be_core=True)
    if kind in ("object", "external", "pods"):
        name = (source.get("metric") or {}).get("name", "")
        if not name:
            yield required(f"{at}.metric.name", "must specify a metric name")
        else:
            yield from formed(name, f"{at}.metric.name", names.path_segment)
    elif not source.get("name"):
        yield required(f"{at}.name", "must specify a resource name")
    elif kind == "containerResource":
        yield from container_resource(source["name"], f"{at}.name")
    if kind == "containerResource":
        if not source.get("container"):
            yield required(f"{at}.container", "must specify a container")
        else:
            yield from formed(source["container"], f"{at}.container", names.label)
    target = source.get("target") or {}
    yield from _validate_target(target, f"{at}.target")
    yield from _validate_amounts(target, f"{at}.target", kind)


def _validate_target(target: Stored, at: str) -> Iterator[FieldError]:
    kind = target.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        why = "must be either Utilization, Value, or AverageValue"
        yield wrong(f"{at}.type", kind, why)
    for name in ("value", "averageValue"):
        if name in target and quantity_text.value(target[name]) <= 0:
            yield wrong(f"{at}.{name}", target[name], "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        yield wrong(f"{at}.averageUtilization", share, "must be greater than 0")


def _validate_amounts(target: Stored, at: str, kind: str) -> Iterator[FieldError]:
    has_value, has_average = "value" in target, "averageValue" in target
    has_share = "averageUtilization" in target
    if kind == "object" and not has_value and not has_average:
        why = "must set either a target value or averageValue"
        yield required(f"{at}.averageValue", why)
    elif kind == "external" and not has_value and not has_average:
        why = "must set either a target value for metric or a per-pod target"
        yield required(f"{at}.averageValue", why)
    elif kind == "external" and has_value and has_average:
        why = "may not set both a target value for metric and a per-pod target"
        yield not_allowed(f"{at}.value", why)
    elif kind == "pods" and not has_average:
        yield required(f"{at}.averageValue", "must specify a positive target averageValue")
    elif kind in ("resource", "containerResource"):
        if not has_share and not has_average:
            yield required(f"{at}.averageUtilization", _EITHER)
        elif has_share and has_average:
            yield not_allowed(f"{at}.averageValue", _NOT_BOTH)


def _validate_rules(rules: Stored, at: str) -> Iterator[FieldError]:
    window = rules.get("stabilizationWindowSeconds")
    where = f"{at}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        yield wrong(where, window, "must be greater than or equal to zero")
    if window is not None and window > _LONGEST_WINDOW:
        yield wrong(where, window, f"must be less than or equal to {_LONGEST_WINDOW}")
    yield from one_of(rules, at, "selectPolicy", ("Disabled", "Max", "Min"))
    policies = rules.get("policies") or ()
    if not policies:
        yield required(f"{at}.policies", "must specify at least one Policy")
    for index, policy in enumerate(policies):
        where, period = f"{at}.policies[{index}]", policy.get("periodSeconds", 0)
        if policy.get("type", "") not in ("Percent", "Pods"):
            yield not_supported(f"{where}.type", policy.get("type", ""), ("Percent", "Pods"))
        for name in ("value", "periodSeconds"):
            if policy.get(name, 0) <= 0:
                yield wrong(f"{where}.{name}", policy.get(name, 0), "must be greater than zero")
        if period > _LONGEST_PERIOD:
            why = f"must be less than or equal to {_LONGEST_PERIOD}"
            yield wrong(f"{where}.periodSeconds", period, why)
