"""Mirrors `model/v1/requirement.proto`: requirements, labels, label selectors."""

from collections.abc import Iterable

from joiner.model.v1 import requirement_pb2 as pb

from libs.domain.errors import InvalidRequest
from libs.domain.requirement import MOST_MIN_VALUES, Operator, Requirement
from libs.domain.requirements import ANYTHING, Requirements
from libs.domain.selector import LabelSelector
from libs.wire.field import by_content, choice, each, inverted, require, unique, within

Labels = tuple[tuple[str, str], ...]


def decode_requirement(message: pb.Requirement) -> Requirement:
    """Return what one key may be."""
    require(message, "key")
    gte = message.greater_or_equal if message.HasField("greater_or_equal") else None
    lte = message.less_or_equal if message.HasField("less_or_equal") else None
    min_values = None
    if message.HasField("min_values"):
        min_values = within("min_values", message.min_values, 1, MOST_MIN_VALUES)
    return Requirement(
        key=message.key,
        complement=message.complement,
        values=frozenset(message.values),
        absent=message.absent,
        gte=gte,
        lte=lte,
        min_values=min_values,
    )


def encode_requirement(requirement: Requirement) -> pb.Requirement:
    """Return the message, values sorted."""
    return pb.Requirement(
        key=requirement.key,
        complement=requirement.complement,
        values=sorted(requirement.values),
        greater_or_equal=requirement.gte,
        less_or_equal=requirement.lte,
        min_values=requirement.min_values,
        absent=requirement.absent,
    )


@by_content
def decode_requirements(message: pb.Requirements) -> Requirements:
    """Return requirements on several keys; a key may come once."""
    if not message.requirements:
        return ANYTHING
    decoded = each("requirements", message.requirements, decode_requirement)
    return Requirements(unique("requirements", decoded, lambda one: one.key))


def encode_requirements(requirements: Requirements) -> pb.Requirements:
    """Return the message, sorted by key."""
    return pb.Requirements(requirements=map(encode_requirement, requirements))


def decode_labels(field: str, messages: Iterable[pb.Label]) -> Labels:
    """Return labels or annotations as pairs sorted by key; a key may come once."""
    pairs = tuple((item.key, item.value) for item in messages)
    if any(not key for key, _ in pairs):
        raise InvalidRequest("a key is empty", field=field)
    return unique(field, pairs, lambda pair: pair[0])


def encode_labels(labels: Labels) -> list[pb.Label]:
    """Return the messages, sorted by key."""
    return [pb.Label(key=key, value=value) for key, value in sorted(labels)]


def decode_label_selector(message: pb.LabelSelector) -> LabelSelector:
    """Return the selector; keys are not resolved, since labels of pods have no aliases."""
    expressions = each("expressions", message.expressions, _decode_expression)
    return LabelSelector(requirements=Requirements(expressions))


def encode_label_selector(selector: LabelSelector | None) -> pb.LabelSelector | None:
    """Return the message, sorted by key, operator, values; None for None."""
    if selector is None:
        return None
    entries = sorted(
        (entry.key, _OPERATOR_NUMBERS[entry.operator], entry.values)
        for entry in selector.requirements.entries()
    )
    return pb.LabelSelector(
        expressions=[
            pb.LabelSelectorExpression(key=key, operator=operator, values=values)
            for key, operator, values in entries
        ]
    )


def _decode_expression(message: pb.LabelSelectorExpression) -> Requirement:
    require(message, "key")
    operator = choice("operator", _OPERATORS, message.operator)
    if operator is Operator.NOT_IN:
        require(message, "values")
    return Requirement.of(message.key, operator, message.values, resolve_alias=False)


_OPERATORS = {
    pb.LabelSelectorExpression.OPERATOR_IN: Operator.IN,
    pb.LabelSelectorExpression.OPERATOR_NOT_IN: Operator.NOT_IN,
    pb.LabelSelectorExpression.OPERATOR_EXISTS: Operator.EXISTS,
    pb.LabelSelectorExpression.OPERATOR_DOES_NOT_EXIST: Operator.DOES_NOT_EXIST,
}
_OPERATOR_NUMBERS = inverted(_OPERATORS)
