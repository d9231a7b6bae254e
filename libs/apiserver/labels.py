"""Label selectors as predicates over labels.

Source: Kubernetes documentation, "Labels and Selectors".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

LabelMatch = Callable[[Mapping[str, str]], bool]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one label."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels satisfy it."""
        present = self.key in labels
        match self.operator:
            case "in":
                return present and labels[self.key] in self.values
            case "notin":
                return not present or labels[self.key] not in self.values
            case "exists":
                return present
            case "absent":
                return not present
            case _:
                return present and self._compares(labels[self.key])

    def _compares(self, value: str) -> bool:
        try:
            left, right = int(value), int(self.values[0])
        except ValueError:
            return False
        return left > right if self.operator == "gt" else left < right


def selects_labels(selector: Mapping[str, Any] | None) -> LabelMatch:
    """Return the predicate of a `LabelSelector` object.

    None and malformed ones select nothing, an empty one all.
    """
    if selector is None:
        return lambda labels: False
    names = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}
    requirements = [
        Requirement(key, "in", (value,)) for key, value in selector.get("matchLabels", {}).items()
    ]
    requirements += [
        Requirement(
            entry["key"], names.get(entry["operator"], "absent"), tuple(entry.get("values") or ())
        )
        for entry in selector.get("matchExpressions") or ()
    ]
    return lambda labels: all(requirement.matches(labels) for requirement in requirements)
