"""Label selectors of pods and namespaces.

Apart from `requirements.py` because these are predicates over concrete labels, of which no alias is
resolved.

Laws:
    - Selectors that match the same are equal where they differ only in spelling: the order of
      expressions, a repeated expression, matchLabels against `In` with one value.
    - No selector (`None`) and an empty one differ: the former selects nothing, the latter
      everything.

Source: Kubernetes API reference, LabelSelector.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from libs.domain.errors import InvalidRequest
from libs.domain.labels import label_value_problem, qualified_name_problem
from libs.domain.requirement import BOUND_OPERATORS, Entry, Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements

NODE_NAME_FIELD = "metadata.name"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelector:
    """A selector of pods or namespaces by label; the default selects everything."""

    requirements: Requirements = ANYTHING

    @classmethod
    def of(
        cls,
        match_labels: Mapping[str, str] | None = None,
        match_expressions: Iterable[Entry] = (),
    ) -> "LabelSelector":
        """Return the selector that demands all labels and all expressions.

        Raises:
            InvalidRequest: a key, operator or value that Kubernetes refuses; with its field path.
        """
        by_label: list[Requirement] = []
        for key, value in (match_labels or {}).items():
            _check_syntax(key, (value,), f"matchLabels.{key}")
            by_label.append(Requirement.of(key, Operator.IN, (value,), resolve_alias=False))
        expressions = tuple(match_expressions)
        for index, entry in enumerate(expressions):
            _check_expression(entry, f"matchExpressions[{index}]")
        try:
            by_expression = Requirements.of(expressions, resolve_aliases=False)
        except InvalidRequest as error:
            raise error.under("matchExpressions") from None
        return cls(requirements=Requirements((*by_label, *by_expression)))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether an object with these labels is selected."""
        return self.requirements.allows(labels)

    def __str__(self) -> str:
        return str(self.requirements) or "everything"


def _check_expression(entry: Entry, path: str) -> None:
    if entry.operator in BOUND_OPERATORS:
        raise InvalidRequest(
            f"operator {entry.operator!s} is not one of In, NotIn, Exists, DoesNotExist",
            field=f"{path}.operator",
        )
    if entry.operator == Operator.NOT_IN and not entry.values:
        raise InvalidRequest("NotIn needs at least one value", field=f"{path}.values")
    _check_syntax(entry.key, entry.values, path)


def _check_syntax(key: str, values: Iterable[str], path: str) -> None:
    for problem in (qualified_name_problem(key), *map(label_value_problem, values)):
        if problem:
            raise InvalidRequest(problem, field=path)
