"""Label selectors of pods and node selectors of pods and volumes.

Apart from `requirements.py` because these are predicates over concrete labels, in Kubernetes' own
shapes: no alias is resolved in a `LabelSelector`, and a node selector is an OR of ANDs.

Laws:
    - Selectors that match the same are equal where they differ only in spelling: the order of
      expressions, a repeated expression, matchLabels against `In` with one value.
    - No selector (`None`) and an empty one differ: the former selects nothing, the latter
      everything.
    - A node selector term without any expression or field selects nothing.

Source: Kubernetes API reference, LabelSelector and NodeSelector.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSelectorTerm:
    """One alternative of a node selector: all expressions and all fields must match."""

    requirements: Requirements = ANYTHING
    """By label; keys that were replaced are resolved, so nodes are asked by `canonical_labels`."""
    node_name: Requirement | None = None
    """By the field `metadata.name`, the only one there is; `None` if no field is asked for."""

    @classmethod
    def of(
        cls, match_expressions: Iterable[Entry] = (), match_fields: Iterable[Entry] = ()
    ) -> "NodeSelectorTerm":
        """Return the term.

        Raises:
            InvalidRequest: an expression or field that Kubernetes refuses; with its field path.
        """
        try:
            requirements = Requirements.of(match_expressions)
        except InvalidRequest as error:
            raise error.under("matchExpressions") from None
        fields = tuple(match_fields)
        for index, entry in enumerate(fields):
            _check_field(entry, f"matchFields[{index}]")
        by_field = Requirements.of(fields, resolve_aliases=False)
        return cls(requirements=requirements, node_name=by_field.get(NODE_NAME_FIELD))

    def matches(self, labels: Mapping[str, str], node_name: str) -> bool:
        """Tell whether a node with these labels and this name is selected."""
        if not self.requirements and self.node_name is None:
            return False
        if self.node_name is not None and not self.node_name.has(node_name):
            return False
        return self.requirements.allows(labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSelector:
    """Alternatives, of which one must match, in the order in which relaxation gives them up."""

    terms: tuple[NodeSelectorTerm, ...]

    def matches(self, labels: Mapping[str, str], node_name: str) -> bool:
        """Tell whether any term selects the node; without a term none does."""
        return any(term.matches(labels, node_name) for term in self.terms)


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


def _check_field(entry: Entry, path: str) -> None:
    if entry.key != NODE_NAME_FIELD:
        raise InvalidRequest(f"{entry.key!r} is not {NODE_NAME_FIELD}", field=f"{path}.key")
    if entry.operator not in (Operator.IN, Operator.NOT_IN) or len(entry.values) != 1:
        raise InvalidRequest("a field needs In or NotIn with exactly one value", field=path)
