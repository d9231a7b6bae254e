"""Smaller requests that may give a pod a place: of one resource, down to what is offered.

Apart because the numbers come out of arrays: the most that any type or node has of a resource where
everything else that is asked for fits.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from libs.domain.explanation import ChangeKind
from libs.domain.reason import Rejection, Rule
from libs.domain.resources import PODS, Resources, format_amount, readable_amount
from services.solver.core.explaining.candidate import Candidate, Question, a_change
from services.solver.core.explaining.pod_changes import attempt_shape
from services.solver.core.pool_reasons import narrowest
from services.solver.core.vectors import Ints, covering

_MOST_SIZES = 3
"""Per resource: the largest ones that some pool or node has room for."""
_MILLION = 10**6
_RULES = frozenset({Rule.RESOURCES, Rule.POOL_LIMITS})


def request_candidates(question: Question) -> Iterator[Candidate]:
    """Yield a smaller request of each resource, largest first."""
    names = question.decision.encoded.dimensions.names
    asked = question.shape.requests
    for column, name in enumerate(names):
        if name == PODS or not asked.get(name):
            continue
        for size in _sizes(question, column)[:_MOST_SIZES]:
            yield _candidate(question, name, size)


def _candidate(question: Question, name: str, size: int) -> Candidate:
    shape = question.shape
    asked = shape.requests.get(name)
    change = a_change(
        ChangeKind.REQUEST,
        f"ask for {readable_amount(name, size)} {name}, "
        f"{readable_amount(name, asked - size, up=True)} less",
        field=f"spec.containers.resources.requests.{name}",
        old=format_amount(name, asked),
        new=format_amount(name, size),
    )
    lowered = shape.requests.overlaid(Resources({name: size}))
    return Candidate(
        kind=change.kind,
        amount=(asked - size) * _MILLION // asked,
        text=name,
        answers=_RULES,
        attempt=attempt_shape(question, change, replace(shape, requests=lowered)),
    )


def _sizes(question: Question, column: int) -> list[int]:
    """Return the most of the resource that each pool, and any node, has room for; largest first."""
    packed = question.decision.packed
    case = question.leftover.case
    asked = int(case.vector[column])
    found = {_most(packed.packer.bins.free, case.vector, column)}
    for template in case.problem.templates:
        known = narrowest(case, template)
        if isinstance(known, Rejection):
            continue
        rows = known.rows
        found.add(_most(template.room[rows], case.vector, column))
        allowed = case.problem.limits[template.index].rows()
        if allowed is not None:
            found.add(_most(template.room[rows & allowed], case.vector, column))
    # To ask for nothing is no smaller request: whoever asks for a device needs one.
    return sorted((size for size in found if 0 < size < asked), reverse=True)


def _most(room: Ints, vector: Ints, column: int) -> int:
    """Return the most of one resource in rows, (n, n_resources), that have all else; -1: none."""
    rest = vector.copy()
    rest[column] = 0
    asked = rest > 0
    fits = covering(room[:, asked], rest[asked])
    return int(room[fits, column].max(initial=-1)) if np.any(fits) else -1
