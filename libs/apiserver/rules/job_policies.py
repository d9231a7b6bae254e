"""Validation of when a Job fails or succeeds before all its pods did.

Source: Kubernetes API reference, PodFailurePolicy, SuccessPolicy; wordings as recorded from
kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed, not_negative
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_supported,
    required,
    too_long,
    too_many,
    wrong,
    wrong_as_whole,
)

_MOST_RULES, _MOST_CODES, _MOST_PATTERNS, _LONGEST_INDEXES = 20, 255, 20, 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_NO_CONTAINER = "must be one of the container or initContainer names in the pod template"


def validate_failure_policy(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with what failed pods mean for a Job."""
    rules, where = spec["podFailurePolicy"].get("rules") or (), f"{at}.podFailurePolicy.rules"
    if len(rules) > _MOST_RULES:
        yield too_many(where, len(rules), _MOST_RULES)
    template = spec["template"]["spec"]
    both = [*(template.get("containers") or ()), *(template.get("initContainers") or ())]
    containers = [container.get("name", "") for container in both]
    for index, rule in enumerate(rules):
        yield from _validate_rule(rule, f"{where}[{index}]", spec, containers)


def _validate_rule(
    rule: Stored, at: str, spec: Stored, containers: Sequence[str]
) -> Iterator[FieldError]:
    action = rule.get("action", "")
    if not action:
        yield required(f"{at}.action", _valid_values(_ACTIONS))
    elif action not in _ACTIONS:
        yield not_supported(f"{at}.action", action, _ACTIONS)
    elif action == "FailIndex" and "backoffLimitPerIndex" not in spec:
        yield wrong(f"{at}.action", action, "requires the backoffLimitPerIndex to be set")
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        yield from _validate_codes(codes, f"{at}.onExitCodes", containers)
    yield from _validate_conditions(conditions, f"{at}.onPodConditions")
    if codes is not None and conditions:
        why = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield wrong_as_whole(at, why)
    elif codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
        yield wrong_as_whole(at, why)


def _valid_values(choices: Sequence[str]) -> str:
    listing = " ".join(f'"{choice}"' for choice in choices)
    return f"valid values: [{listing}]"


def _validate_codes(codes: Stored, at: str, containers: Sequence[str]) -> Iterator[FieldError]:
    operator, values = codes.get("operator", ""), codes.get("values") or ()
    if not operator:
        yield required(f"{at}.operator", _valid_values(_OPERATORS))
    elif operator not in _OPERATORS:
        yield not_supported(f"{at}.operator", operator, _OPERATORS)
    container = codes.get("containerName")
    if container is not None and container not in containers:
        yield wrong(f"{at}.containerName", container, _NO_CONTAINER)
    if not values:
        yield wrong(f"{at}.values", codes.get("values"), "at least one value is required")
    elif len(values) > _MOST_CODES:
        yield too_many(f"{at}.values", len(values), _MOST_CODES)
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            yield wrong(f"{at}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            yield duplicate(f"{at}.values[{index}]", value)
    if list(values) != sorted(values):
        yield wrong(f"{at}.values", values, "must be ordered")


def _validate_conditions(patterns: Sequence[Stored], at: str) -> Iterator[FieldError]:
    if len(patterns) > _MOST_PATTERNS:
        yield too_many(at, len(patterns), _MOST_PATTERNS)
    for index, pattern in enumerate(patterns):
        where, status = f"{at}[{index}]", pattern.get("status", "")
        yield from formed(pattern.get("type", ""), f"{where}.type", names.qualified_name)
        if not status:
            yield required(f"{where}.status", _valid_values(_STATUSES))
        elif status not in _STATUSES:
            yield not_supported(f"{where}.status", status, _STATUSES)


def validate_success_policy(spec: Stored, at: str) -> Iterator[FieldError]:
    """Yield what is wrong with which pods are enough for a Job of indexes."""
    rules, where = spec["successPolicy"].get("rules") or (), f"{at}.successPolicy.rules"
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        yield required(where, why)
    if len(rules) > _MOST_RULES:
        yield too_many(where, len(rules), _MOST_RULES)
    for index, rule in enumerate(rules):
        yield from _validate_success(rule, f"{where}[{index}]", spec.get("completions", 0))


def _validate_success(rule: Stored, at: str, completions: int) -> Iterator[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        why = "at least one of succeededCount or succeededIndexes must be specified"
        yield required(at, why)
    total = 0
    if indexes is not None:
        where = f"{at}.succeededIndexes"
        if len(indexes) > _LONGEST_INDEXES:
            yield too_long(where, _LONGEST_INDEXES)
        try:
            total = count_indexes(indexes, completions)
        except ValueError as error:
            yield wrong(where, indexes, f"error parsing succeededIndexes: {error}")
    yield from not_negative(rule, at, "succeededCount")
    if count is None:
        return
    if count > completions:
        why = f"must be less than or equal to {completions} (the number of specified completions)"
        yield wrong(f"{at}.succeededCount", count, why)
    if indexes is not None and count > total:
        why = (
            f"must be less than or equal to {total} (the number of indexes in the specified "
            "succeededIndexes field)"
        )
        yield wrong(f"{at}.succeededCount", count, why)


def count_indexes(text: str, completions: int) -> int:
    """Return how many indexes a list of intervals (`1,3-5`) has; raises ValueError."""
    total, last = 0, -1
    for interval in text.split(",") if text else ():
        start, end = _interval(interval, completions)
        if last >= start:
            raise ValueError(f"non-increasing order, previous: {last}, current: {start}")
        total, last = total + end - start + 1, end
    return total


def overlap(left: str, right: str, completions: int) -> int | None:
    """Return the first index that two lists share; intervals that cannot be read are skipped."""
    shared = [
        max(one[0], other[0])
        for one in _readable(left, completions)
        for other in _readable(right, completions)
        if one[0] <= other[1] and other[0] <= one[1]
    ]
    return min(shared, default=None)


def _readable(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in text.split(",") if text else ():
        with suppress(ValueError):
            yield _interval(interval, completions)


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        raise ValueError(
            f'the fragment "{text}" violates the requirement that an index interval can have at '
            "most two parts separated by '-'"
        )
    numbers = []
    for part in parts:
        if not re.fullmatch(r"[+-]?[0-9]+", part):
            raise ValueError(f'cannot convert string to integer for index: "{part}"')
        if int(part) >= completions:
            raise ValueError(f'too large index: "{part}"')
        numbers.append(int(part))
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise ValueError(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]
