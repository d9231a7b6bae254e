"""Validation of workloads and budgets: selectors, templates, strategies, and what may not change.

Source: Kubernetes API reference, Deployment and its kin, PodDisruptionBudget; wordings as recorded.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from libs.apiserver.field_errors import (
    FieldError,
    not_allowed,
    not_supported,
    required,
    wrong,
)
from libs.apiserver.labels import selects_labels
from libs.apiserver.metadata import IMMUTABLE
from libs.apiserver.rules.containers import NOT_NEGATIVE
from libs.apiserver.rules.pods import validate_pod_spec
from libs.apiserver.rules.scheduling import validate_selector

Object = dict[str, Any]
Stored = Mapping[str, Any]
_PERCENT = re.compile(r"[0-9]+%\Z")
_PERCENT_WORDS = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for "
    "validation is '[0-9]+%')"
)


def validate_deployment(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Deployment."""
    spec = obj["spec"]
    found = list(_validate_replicas(spec))
    found += _validate_selector(spec, "deployment")
    found += _validate_strategy(spec["strategy"])
    found += _validate_counts(spec)
    return found + list(validate_template(spec, ("Always",)))


def validate_controller(kind: str) -> Callable[[Object], list[FieldError]]:
    """Return the check of a kind that keeps pods of a template running."""

    def validate(obj: Object) -> list[FieldError]:
        spec = obj["spec"]
        found = list(_validate_replicas(spec)) + list(_validate_selector(spec, kind))
        return found + list(validate_template(spec, ("Always",)))

    return validate


def validate_job(obj: Object) -> list[FieldError]:
    """Return what is wrong with a Job."""
    spec = obj["spec"]
    found = [
        wrong(f"spec.{name}", spec[name], NOT_NEGATIVE)
        for name in ("parallelism", "completions", "backoffLimit", "activeDeadlineSeconds")
        if spec.get(name, 0) < 0
    ]
    if not spec.get("selector"):
        found.append(required("spec.selector"))
    return found + list(validate_template(spec, ("OnFailure", "Never")))


def immutable_selector(new: Object, old: Stored) -> list[FieldError]:
    """Return the refusal of a changed selector."""
    if new["spec"].get("selector") != old["spec"].get("selector"):
        return [wrong("spec.selector", new["spec"].get("selector"), IMMUTABLE)]
    return []


def fixed_job(new: Object, old: Stored) -> list[FieldError]:
    """Return the refusals of changes to what a Job is about: its pods and how many must succeed."""
    fields = ["selector", *_FIXED_OF_JOBS]
    if new["spec"].get("completionMode") != "Indexed":
        fields.insert(0, "completions")
    return [
        wrong(f"spec.{name}", new["spec"].get(name), IMMUTABLE)
        for name in fields
        if new["spec"].get(name) != old["spec"].get(name)
    ]


_FIXED_OF_JOBS = (
    *("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"),
)


def _validate_replicas(spec: Object) -> Iterator[FieldError]:
    if spec.get("replicas", 0) < 0:
        yield wrong("spec.replicas", spec["replicas"], NOT_NEGATIVE)


def _validate_selector(spec: Object, kind: str) -> Iterator[FieldError]:
    selector = spec.get("selector")
    if selector is None:
        yield required("spec.selector")
        return
    yield from validate_selector(selector, "spec.selector")
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield wrong("spec.selector", selector, f"empty selector is invalid for {kind}")


def _validate_strategy(strategy: Object) -> Iterator[FieldError]:
    at = "spec.strategy"
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            yield not_allowed(
                f"{at}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"
            )
    elif kind != "RollingUpdate":
        yield not_supported(f"{at}.type", kind, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        for name in ("maxUnavailable", "maxSurge"):
            yield from validate_share(rolling.get(name, 0), f"{at}.rollingUpdate.{name}")
        if _is_zero(rolling.get("maxUnavailable")) and _is_zero(rolling.get("maxSurge")):
            why = "may not be 0 when `maxSurge` is 0"
            yield wrong(f"{at}.rollingUpdate.maxUnavailable", rolling["maxUnavailable"], why)


def _is_zero(share: int | str | None) -> bool:
    return share in (0, "0%")


def _validate_counts(spec: Object) -> Iterator[FieldError]:
    for name in ("minReadySeconds", "revisionHistoryLimit"):
        if spec.get(name, 0) < 0:
            yield wrong(f"spec.{name}", spec[name], NOT_NEGATIVE)


def validate_share(share: int | str, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with a number or percentage."""
    if isinstance(share, str):
        if not _PERCENT.match(share):
            yield wrong(at, share, _PERCENT_WORDS)
    elif share < 0:
        yield wrong(at, share, NOT_NEGATIVE)


def validate_template(spec: Object, policies: tuple[str, ...]) -> Iterator[FieldError]:
    """Yield what is wrong with a pod template: its labels, its spec, its restart policy."""
    template = spec.get("template")
    if template is None:
        yield required("spec.template")
        return
    labels = template["metadata"].get("labels") or {}
    selector = spec.get("selector")
    if selector and "matchLabels" not in selector and "matchExpressions" not in selector:
        matches = all(labels.get(key) == value for key, value in selector.items())
    else:
        matches = not selector or selects_labels(selector)(labels)
    if not matches:
        yield wrong(
            "spec.template.metadata.labels", labels, "`selector` does not match template `labels`"
        )
    claims = (one["metadata"].get("name", "") for one in spec.get("volumeClaimTemplates") or ())
    yield from validate_pod_spec(template["spec"], "spec.template.spec", frozenset(claims))
    policy = template["spec"]["restartPolicy"]
    if policy not in policies:
        at = "spec.template.spec.restartPolicy"
        if policy == "Always":
            choices = ", ".join(f'"{choice}"' for choice in policies)
            yield required(at, f"valid values: {choices}")
        else:
            yield not_supported(at, policy, policies)


def validate_budget(obj: Object) -> list[FieldError]:
    """Return what is wrong with a PodDisruptionBudget."""
    spec = obj["spec"]
    found: list[FieldError] = []
    if "minAvailable" in spec and "maxUnavailable" in spec:
        found.append(wrong("spec", spec, "minAvailable and maxUnavailable cannot be both set"))
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            found += validate_share(spec[name], f"spec.{name}")
    found += validate_selector(spec.get("selector"), "spec.selector")
    policies = ("AlwaysAllow", "IfHealthyBudget")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in policies:
        found.append(not_supported("spec.unhealthyPodEvictionPolicy", policy, policies))
    return found
