"""Validation of conditions of the general type, as newer kinds carry them.

Source: Kubernetes API reference, Condition (meta/v1); wordings as recorded from kube-apiserver
1.36.
"""

import re
from collections.abc import Iterator, Sequence

from libs.apiserver import names
from libs.apiserver.checks import Stored, formed
from libs.apiserver.field_errors import (
    FieldError,
    duplicate,
    not_supported,
    required,
    too_long,
    wrong,
)

_STATUSES = ("False", "True", "Unknown")
_LONGEST_REASON, _LONGEST_MESSAGE = 1024, 32 * 1024
_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_WORDS = (
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    f"used for validation is '{_REASON}')"
)


def validate_conditions(conditions: Sequence[Stored], at: str) -> Iterator[FieldError]:
    """Yield what is wrong with conditions, of which there is one of each type."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type", "")
        if kind in seen:
            yield duplicate(f"{at}[{index}].type", kind)
        seen.add(kind)
        yield from _validate(condition, f"{at}[{index}]")


def _validate(condition: Stored, at: str) -> Iterator[FieldError]:
    yield from formed(condition.get("type", ""), f"{at}.type", names.qualified_name)
    status, generation = condition.get("status", ""), condition.get("observedGeneration", 0)
    if status not in _STATUSES:
        yield not_supported(f"{at}.status", status, _STATUSES)
    if generation < 0:
        yield wrong(f"{at}.observedGeneration", generation, "must be greater than or equal to zero")
    if not condition.get("lastTransitionTime"):
        yield required(f"{at}.lastTransitionTime")
    yield from _validate_words(condition, at)


def _validate_words(condition: Stored, at: str) -> Iterator[FieldError]:
    reason = condition.get("reason", "")
    if not reason:
        yield required(f"{at}.reason")
    else:
        if not re.fullmatch(_REASON, reason):
            yield wrong(f"{at}.reason", reason, _REASON_WORDS)
        if len(reason) > _LONGEST_REASON:
            yield too_long(f"{at}.reason", _LONGEST_REASON)
    if len(condition.get("message", "")) > _LONGEST_MESSAGE:
        yield too_long(f"{at}.message", _LONGEST_MESSAGE)
