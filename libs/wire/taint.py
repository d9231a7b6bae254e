"""Mirrors `model/v1/taint.proto`."""

from joiner.model.v1 import taint_pb2 as pb

from libs.domain.taint import Effect, Taint, Toleration, TolerationOperator
from libs.wire.field import by_content, choice, encoded_once, inverted, require


def decode_taint(message: pb.Taint) -> Taint:
    """Return the taint."""
    require(message, "key")
    return Taint(
        key=message.key, value=message.value, effect=choice("effect", _EFFECTS, message.effect)
    )


def encode_taint(taint: Taint) -> pb.Taint:
    """Return the message."""
    return pb.Taint(key=taint.key, value=taint.value, effect=_EFFECT_NUMBERS[taint.effect])


def decode_effect(field: str, number: pb.TaintEffect.ValueType) -> Effect:
    """Return the effect; an unspecified or unknown one is refused."""
    return choice(field, _EFFECTS, number)


def encode_effect(effect: Effect) -> pb.TaintEffect.ValueType:
    """Return the number."""
    return _EFFECT_NUMBERS[effect]


@by_content
def decode_toleration(message: pb.Toleration) -> Toleration:
    """Return the toleration."""
    operator = choice("operator", _OPERATORS, message.operator)
    if operator is not TolerationOperator.EXISTS:
        require(message, "key")
    any_effect = message.effect == pb.TAINT_EFFECT_UNSPECIFIED
    return Toleration(
        key=message.key,
        operator=operator,
        value=message.value,
        effect=None if any_effect else choice("effect", _EFFECTS, message.effect),
    )


@encoded_once
def encode_toleration(toleration: Toleration) -> pb.Toleration:
    """Return the message; `seconds` says how long, not where, and does not travel."""
    effect = toleration.effect
    return pb.Toleration(
        key=toleration.key,
        operator=_OPERATOR_NUMBERS[toleration.operator],
        value=toleration.value,
        effect=pb.TAINT_EFFECT_UNSPECIFIED if effect is None else _EFFECT_NUMBERS[effect],
    )


_EFFECTS = {
    pb.TAINT_EFFECT_NO_SCHEDULE: Effect.NO_SCHEDULE,
    pb.TAINT_EFFECT_PREFER_NO_SCHEDULE: Effect.PREFER_NO_SCHEDULE,
    pb.TAINT_EFFECT_NO_EXECUTE: Effect.NO_EXECUTE,
}
_EFFECT_NUMBERS = inverted(_EFFECTS)
_OPERATORS = {
    pb.Toleration.OPERATOR_EQUAL: TolerationOperator.EQUAL,
    pb.Toleration.OPERATOR_EXISTS: TolerationOperator.EXISTS,
    pb.Toleration.OPERATOR_LESS_THAN: TolerationOperator.LT,
    pb.Toleration.OPERATOR_GREATER_THAN: TolerationOperator.GT,
}
_OPERATOR_NUMBERS = inverted(_OPERATORS)
