"""Label selectors, compiled once and matched often.

Apart from node selectors (`node_selectors`), whose operators and error rules differ.

Source: the Kubernetes API documentation of `LabelSelector`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain.errors import InvalidRequest
from libs.oracle.objects import KubeObject


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """One condition on one label. Positional: a selector is a list of these triples."""

    key: str
    operator: str
    """In, NotIn, Exists or DoesNotExist."""
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the labels fulfil the condition; an absent label fulfils NotIn."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case _:
                return value is None


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All requirements must hold; without any it matches everything."""

    requirements: tuple[LabelRequirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether all requirements hold."""
        return all(requirement.matches(labels) for requirement in self.requirements)


def read_selector(selector: KubeObject | None) -> LabelSelector | None:
    """Compile a selector; None, which matches nothing, where there is none.

    Raises:
        InvalidRequest: an operator that label selectors do not have.
    """
    if selector is None:
        return None
    requirements = [
        LabelRequirement(key, "In", frozenset((value,)))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        operator = expression.get("operator", "")
        if operator not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise InvalidRequest(
                f'unknown operator "{operator}", use In, NotIn, Exists or DoesNotExist',
                field=f"matchExpressions[{index}].operator",
            )
        values = frozenset(expression.get("values") or ())
        requirements.append(LabelRequirement(expression.get("key", ""), operator, values))
    return LabelSelector(tuple(requirements))


def with_label_keys(
    selector: LabelSelector | None,
    labels: Mapping[str, str],
    *,
    same: Iterable[str],
    different: Iterable[str] = (),
) -> LabelSelector | None:
    """Add `matchLabelKeys` and `mismatchLabelKeys`, as the API server does on creation.

    A key that the selector already names was merged before and stays as it was then.
    """
    if selector is None:
        return None
    present = {requirement.key for requirement in selector.requirements}
    added = [
        LabelRequirement(key, operator, frozenset((labels[key],)))
        for keys, operator in ((same, "In"), (different, "NotIn"))
        for key in keys
        if key in labels and key not in present
    ]
    return LabelSelector((*selector.requirements, *added)) if added else selector
