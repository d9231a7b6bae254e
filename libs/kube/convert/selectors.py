"""Label selectors, node selectors and requirements.

Apart because pods, volumes, pools and budgets all have some. Which operators are legal depends on
where an expression stands: pods know six, NodePools eight.
"""

from collections.abc import Iterable, Mapping

from libs.domain import labels as label_keys
from libs.domain.errors import InvalidRequest
from libs.domain.labels import label_value_problem, qualified_name_problem
from libs.domain.pod import NodeTerm
from libs.domain.requirement import Entry, Operator, Requirement
from libs.domain.requirements import Requirements
from libs.domain.selector import NODE_NAME_FIELD
from libs.domain.selector import LabelSelector as DomainSelector
from libs.kube.objects.metadata import LabelSelector, LabelSelectorRequirement, NodeSelectorTerm

NODE_OPERATORS = frozenset(
    {
        Operator.IN,
        Operator.NOT_IN,
        Operator.EXISTS,
        Operator.DOES_NOT_EXIST,
        Operator.GT,
        Operator.LT,
    }
)
_FIELD_OPERATORS = frozenset({Operator.IN, Operator.NOT_IN})


def label_selector(selector: LabelSelector | None, path: str) -> DomainSelector | None:
    """Return the selector; none stays none, which selects nothing.

    Raises:
        InvalidRequest: a key, operator or value that Kubernetes refuses.
    """
    if selector is None:
        return None
    try:
        return DomainSelector.of(
            selector.match_labels,
            [
                entry(one, f"matchExpressions[{index}]")
                for index, one in enumerate(selector.match_expressions)
            ],
        )
    except InvalidRequest as error:
        raise error.under(path) from None


def with_label_keys(
    selector: DomainSelector | None,
    labels: Mapping[str, str],
    *,
    match: Iterable[str] = (),
    mismatch: Iterable[str] = (),
) -> DomainSelector | None:
    """Return the selector narrowed by the pod's own values of `matchLabelKeys` and its opposite.

    Keys that the pod does not have are ignored. The API server has merged them already; doing it
    again changes nothing.
    """
    extra = [_own(key, Operator.IN, labels) for key in match if key in labels]
    extra += [_own(key, Operator.NOT_IN, labels) for key in mismatch if key in labels]
    if selector is None or not extra:
        return selector
    return DomainSelector(requirements=Requirements((*selector.requirements, *extra)))


def node_selector(labels: Mapping[str, str], path: str) -> Requirements:
    """Return what `spec.nodeSelector` demands.

    Raises:
        InvalidRequest: a key or value that is no label's.
    """
    for key, value in labels.items():
        if problem := qualified_name_problem(key) or label_value_problem(value):
            raise InvalidRequest(problem, field=f"{path}.{key}")
    return Requirements.from_labels(labels)


def node_terms(terms: Iterable[NodeSelectorTerm], path: str) -> tuple[NodeTerm, ...]:
    """Return the terms of a node selector; those that match nothing are left out.

    So is one with a value that is none, such as Gt of a word: API servers store it, kube-scheduler
    goes by the other terms.

    Raises:
        InvalidRequest: an expression or field that Kubernetes refuses, or such a value where no
            other term is left.
    """
    found: list[NodeTerm] = []
    illegible: InvalidRequest | None = None
    for index, term in enumerate(terms):
        try:
            converted = _node_term(term, f"{path}[{index}]")
        except InvalidRequest as error:
            if not error.field.endswith(".values"):
                raise
            illegible = illegible or error
            continue
        if converted is not None:
            found.append(converted)
    if illegible is not None and not found:
        raise illegible
    return tuple(found)


def _node_term(term: NodeSelectorTerm, path: str) -> NodeTerm | None:
    """Return a term; None for one that is empty, or whose fields leave no node name."""
    if not term.match_expressions and not term.match_fields:
        return None
    allowed, excluded = _node_names(term.match_fields, f"{path}.matchFields")
    if allowed is not None and not allowed - excluded:
        return None
    for index, one in enumerate(term.match_expressions):
        for value in one.values:
            if problem := label_value_problem(value):
                where = f"{path}.matchExpressions[{index}].values"
                raise InvalidRequest(problem, field=where)
    return NodeTerm(
        requirements=node_requirements(term.match_expressions, f"{path}.matchExpressions"),
        node_names=tuple(sorted(allowed or ())),
        excluded_node_names=tuple(sorted(excluded)),
    )


def node_requirements(
    expressions: Iterable[LabelSelectorRequirement],
    path: str,
    operators: frozenset[Operator] = NODE_OPERATORS,
) -> Requirements:
    """Return what expressions over a node's labels demand.

    Raises:
        InvalidRequest: an operator that is not among `operators`, or values that do not go with it.
    """
    found = []
    for index, one in enumerate(expressions):
        where = f"{path}[{index}]"
        parsed = entry(one, where)
        if parsed.operator not in operators:
            raise InvalidRequest(
                f"operator {one.operator!r} is not one of {', '.join(sorted(operators))}",
                field=f"{where}.operator",
            )
        if problem := qualified_name_problem(parsed.key):
            raise InvalidRequest(problem, field=f"{where}.key")
        if parsed.operator is Operator.NOT_IN and not parsed.values:
            raise InvalidRequest("NotIn needs at least one value", field=f"{where}.values")
        found.append(parsed)
    try:
        return Requirements.of(found)
    except InvalidRequest as error:
        raise error.under(path) from None


def pool_requirements(expressions: Iterable[LabelSelectorRequirement], path: str) -> Requirements:
    """Return the requirements of a NodePool, NodeClaim or NodeOverlay, minValues included.

    Raises:
        InvalidRequest: an unknown operator, or values that do not go with it.
    """
    entries = [entry(one, f"{path}[{index}]") for index, one in enumerate(expressions)]
    try:
        return Requirements.of(entries)
    except InvalidRequest as error:
        raise error.under(path) from None


def entry(one: LabelSelectorRequirement, path: str) -> Entry:
    """Return one expression.

    Raises:
        InvalidRequest: there is no such operator, or no key.
    """
    if not one.key:
        raise InvalidRequest("is missing", field=f"{path}.key")
    try:
        operator = Operator(one.operator)
    except ValueError:
        known = ", ".join(Operator)
        raise InvalidRequest(
            f"unknown operator {one.operator!r}, not one of {known}", field=f"{path}.operator"
        ) from None
    return Entry(key=one.key, operator=operator, values=one.values, min_values=one.min_values)


def _node_names(
    fields: Iterable[LabelSelectorRequirement], path: str
) -> tuple[frozenset[str] | None, frozenset[str]]:
    """Return the allowed names, None for all, and the excluded ones."""
    allowed: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    for index, one in enumerate(fields):
        where = f"{path}[{index}]"
        if one.key != NODE_NAME_FIELD:
            raise InvalidRequest(f"{one.key!r} is not {NODE_NAME_FIELD}", field=f"{where}.key")
        if entry(one, where).operator not in _FIELD_OPERATORS or len(one.values) != 1:
            raise InvalidRequest("a field needs In or NotIn with exactly one value", field=where)
        names = frozenset(one.values)
        if one.operator == Operator.NOT_IN:
            excluded |= names
        else:
            allowed = names if allowed is None else allowed & names
    return allowed, excluded


def _own(key: str, operator: Operator, labels: Mapping[str, str]) -> Requirement:
    return Requirement.of(key, operator, (labels[key],), resolve_alias=False)


def topology_key(key: str, path: str) -> str:
    """Return the key of a topology, deprecated ones replaced.

    Raises:
        InvalidRequest: it is empty or no label key.
    """
    if problem := qualified_name_problem(key):
        raise InvalidRequest(problem, field=path)
    return label_keys.canonical_key(key)


def selected_keys(selectors: Iterable[DomainSelector | None]) -> frozenset[str]:
    """Return the label keys that the selectors read."""
    return frozenset(
        requirement.key for one in selectors if one is not None for requirement in one.requirements
    )


def sorted_pairs(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return labels or annotations by key; an empty key, which no API server takes, is dropped."""
    return tuple(sorted((key, value) for key, value in labels.items() if key))
