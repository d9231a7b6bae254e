"""Node selectors: terms of label expressions and fields, as pods and volumes carry them.

Apart from label selectors because of Gt and Lt, fields, alternatives, and because a malformed
requirement makes only its own term match nothing.

Source: the Kubernetes API documentation of `NodeSelector`; kube-scheduler's NodeAffinity.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from libs.oracle.objects import KubeObject, spec_of

NodePredicate = Callable[[Mapping[str, str], str], bool]
"""Of a node's labels and its name."""

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", re.ASCII)


def read_node_selector(selector: KubeObject) -> NodePredicate:
    """Compile a NodeSelector: any of its terms must match; without terms nothing does."""
    terms = [read_term(term) for term in selector.get("nodeSelectorTerms") or ()]

    def matches(labels: Mapping[str, str], name: str) -> bool:
        return any(term(labels, name) for term in terms)

    return matches


def read_term(term: KubeObject) -> NodePredicate:
    """Compile one term: all its expressions and fields must match; an empty one never does."""
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    legal = all(map(_is_legal, expressions)) and all(map(_is_legal_field, fields))
    if not legal or not (expressions or fields):
        return lambda _labels, _name: False

    def matches(labels: Mapping[str, str], name: str) -> bool:
        # Where volumes may be used is asked without a name, and fields then say nothing.
        return all(_matches(expression, labels) for expression in expressions) and all(
            _matches(field, {"metadata.name": name}) for field in fields if name
        )

    return matches


def required_of(pod_spec: KubeObject) -> KubeObject | None:
    """Return the pod's required node affinity, None if it has none."""
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required: KubeObject | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required


def read_pod_node_selection(pod: KubeObject) -> NodePredicate | None:
    """Compile nodeSelector and required node affinity together; None if the pod has neither."""
    spec = spec_of(pod)
    wanted: Mapping[str, str] = spec.get("nodeSelector") or {}
    required = required_of(spec)
    if not wanted and required is None:
        return None
    affinity = None if required is None else read_node_selector(required)

    def matches(labels: Mapping[str, str], name: str) -> bool:
        return all(labels.get(key) == value for key, value in wanted.items()) and (
            affinity is None or affinity(labels, name)
        )

    return matches


def integer(text: str) -> int | None:
    """Read a decimal int64 as Go does (sign and leading zeroes allowed); None if it is not one."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _matches(expression: KubeObject, labels: Mapping[str, str]) -> bool:
    value = labels.get(expression["key"])
    values: Sequence[str] = expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            return _compares(operator, value, values[0])


def _compares(operator: str, value: str | None, bound: str) -> bool:
    number, limit = integer(value or ""), integer(bound)
    if number is None or limit is None:
        return False
    return number > limit if operator == "Gt" else number < limit


def _is_legal(expression: KubeObject) -> bool:
    values: Sequence[str] = expression.get("values") or ()
    if not all(_LABEL_VALUE.fullmatch(value) for value in values):
        return False
    match expression.get("operator"):
        case "In" | "NotIn":
            return bool(values)
        case "Exists" | "DoesNotExist":
            return not values
        case "Gt" | "Lt":
            return len(values) == 1 and integer(values[0]) is not None
        case _:
            return False


def _is_legal_field(field: KubeObject) -> bool:
    return field.get("operator") in ("In", "NotIn") and len(field.get("values") or ()) == 1
