"""Slips of the hand: a value, a label key or a toleration that means nothing as it is written.

Apart because they are the smallest changes there are, and because a guess is made only where what
is written fits nothing that is known and one slip makes it fit.
"""

from collections.abc import Iterator
from dataclasses import replace

from libs.domain import spelling
from libs.domain.explanation import ChangeKind
from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.requirement import Operator, Requirement
from libs.domain.taint import Taint, Toleration, TolerationOperator
from services.solver.core.explaining.candidate import (
    SELECTION,
    Candidate,
    Question,
    a_change,
    attempt_shape,
)
from services.solver.core.explaining.known import known_keys, known_taints, known_values

_TAINTS = frozenset({Rule.TAINTS})
_TOLERATIONS = "spec.tolerations"


def respelt(question: Question, one: Requirement) -> Iterator[Requirement]:
    """Yield the requirement with its key, or a value that nobody has, as a known one is written."""
    if not one.absent:
        for key in meant_keys(question, one.key):
            yield replace(one, key=key)
    if one.operator is not Operator.IN:
        return
    known = known_values(question.decision, one.key)
    if known.intersection(one.values):
        return
    for value in sorted(one.values):
        for right in spelling.nearest(value, known):
            yield Requirement.of(one.key, Operator.IN, (one.values - {value}) | {right})


def meant_keys(question: Question, key: str) -> tuple[str, ...]:
    """Return the label key that was perhaps meant by one that nobody knows."""
    known = known_keys(question.decision)
    return () if key in known else spelling.nearest(key, known)


def slip(
    question: Question, wrong: Requirement, right: Requirement, field: str, edited: PodShape
) -> Candidate:
    """Return the candidate that writes a requirement of the node selection as it was meant."""
    if wrong.key != right.key:
        said, meant, old, new = wrong.key, right.key, str(wrong), str(right)
        message = f'write "{meant}" for "{said}", a label that no node has'
    else:
        old = said = min(wrong.values - right.values, default="")
        new = meant = min(right.values - wrong.values, default="")
        message = f'write "{new}" for "{old}", which no node has as {wrong.key}'
    change = a_change(ChangeKind.VALUE, message, field=field, old=old, new=new)
    return Candidate(
        kind=change.kind,
        amount=spelling.slips(said, meant),
        text=f"{said} {meant}",
        answers=SELECTION,
        attempt=attempt_shape(question, change, edited),
    )


# Tolerations.


def toleration_slips(question: Question) -> Iterator[Candidate]:
    """Yield tolerations that bear no taint that there is, written as one that does."""
    shape, known = question.shape, known_taints(question.decision)
    for index, wrong in enumerate(shape.tolerations):
        if not wrong.key or any(_is_about(wrong, taint) for taint in known):
            continue
        for taint in known:
            right = _as_meant(wrong, taint)
            if right is None:
                continue
            old, new = told(wrong), told(right)
            change = a_change(
                ChangeKind.VALUE,
                f'write "{new}" for "{old}", a taint that nothing has',
                field=_TOLERATIONS,
                old=old,
                new=new,
            )
            tolerations = (*shape.tolerations[:index], right, *shape.tolerations[index + 1 :])
            yield Candidate(
                kind=change.kind,
                amount=spelling.slips(old, new),
                text=f"{old} {new}",
                answers=_TAINTS,
                attempt=attempt_shape(question, change, replace(shape, tolerations=tolerations)),
            )


def told(toleration: Toleration) -> str:
    """Return a toleration in words, as the taint that it bears."""
    effect = f":{toleration.effect}" if toleration.effect is not None else ""
    match toleration.operator:
        case TolerationOperator.EQUAL:
            value = f"={toleration.value}" if toleration.value else ""
        case TolerationOperator.EXISTS:
            value = ""
        case _:
            value = f" {toleration.operator} {toleration.value}"
    return f"{toleration.key or 'any taint'}{value}{effect}"


def _is_about(one: Toleration, taint: Taint) -> bool:
    return (
        one.key == taint.key
        and one.effect in (None, taint.effect)
        and (one.operator is not TolerationOperator.EQUAL or one.value == taint.value)
    )


def _as_meant(one: Toleration, taint: Taint) -> Toleration | None:
    """Return the toleration with one thing else, so that it is about the taint; None if it is not.

    That thing is its key or its value, if a slip explains it, or its effect.
    """
    fixes = [replace(one, effect=taint.effect)]
    if spelling.nearest(one.key, [taint.key]):
        fixes.append(replace(one, key=taint.key))
    if spelling.nearest(one.value, [taint.value]):
        fixes.append(replace(one, value=taint.value))
    return next((fixed for fixed in fixes if _is_about(fixed, taint)), None)
