"""Priority classes: what is wrong with them.

Source: Kubernetes API reference, PriorityClass; wordings as recorded from kube-apiserver 1.36.
"""

from typing import Any

from libs.apiserver.checks import one_of
from libs.apiserver.field_errors import FieldError, not_allowed

Object = dict[str, Any]
HIGHEST_PRIORITY = 1_000_000_000


def validate(obj: Object) -> list[FieldError]:
    """Check that only Kubernetes' own classes go beyond the highest priority of users."""
    found = list(one_of(obj, "", "preemptionPolicy", ("PreemptLowerPriority", "Never")))
    if obj.get("value", 0) <= HIGHEST_PRIORITY or obj["metadata"].get("name", "").startswith(
        "system-"
    ):
        return found
    why = f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
    return [*found, not_allowed("value", why)]
