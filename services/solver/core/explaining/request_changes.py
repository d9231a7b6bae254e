"""Smaller requests that may give a pod a place: of one resource, down to what is offered.

Named is the field that counts: of containers, init containers, what the pod asks for itself and its
overhead the largest one that alone brings the sum down.

Apart because the numbers come out of arrays: the most that any type or node has of a resource where
everything else that is asked for fits.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from libs.domain.explanation import Change, ChangeKind
from libs.domain.pod import PodShape, RequestField
from libs.domain.reason import Rejection, Rule
from libs.domain.resources import (
    PODS,
    WELL_KNOWN,
    Resources,
    format_amount,
    named_amount,
    readable_amount,
)
from services.solver.core.explaining.candidate import (
    Attempt,
    Candidate,
    Found,
    Question,
    a_change,
    attempt_shape,
    smallest,
)
from services.solver.core.explaining.trial import Trials
from services.solver.core.reasons.pool_reasons import narrowest
from services.solver.core.vectors import Ints, covering

_MOST_SIZES = 3
"""Per resource: the largest ones that some pool or node has room for."""
_MILLION = 10**6
_CONTAINERS = "spec.containers"
_GIVEN = "status."
_RUNTIME = "RuntimeClass/"
_OVERHEAD = ".overhead.podFixed"
_WHATEVER_IT_ASKS = frozenset(
    {
        Rule.TAINTS,
        Rule.NODE_AFFINITY,
        Rule.VOLUME_TOPOLOGY,
        Rule.STORAGE_CAPACITY,
        Rule.HOST_PORTS,
        Rule.DEVICES,
    }
)
"""Rules by which a pool refuses a pod of any size."""
_RULES = frozenset({Rule.RESOURCES, Rule.POOL_LIMITS})


def request_candidates(question: Question) -> Iterator[Candidate]:
    """Yield a smaller request of each resource, largest first."""
    names = question.decision.encoded.dimensions.names
    asked = question.shape.requests
    for column, name in enumerate(names):
        if name == PODS or not asked.get(name):
            continue
        sizes = _sizes(question, column)
        if len(question.uids) > 1:
            # What some of them have taken may serve all of them.
            sizes += _sizes(replace(question, bins=question.decision.packed.packer.bins), column)
            yield from _for_all(question, name, _shared(sizes, asked.get(name), question))
            continue
        fewer = [size for size in sizes if size < asked.get(name)]
        for size in fewer[:_MOST_SIZES]:
            yield _candidate(question, name, size, _attempt(question, name, size))


def _for_all(question: Question, name: str, sizes: list[int]) -> Iterator[Candidate]:
    """Yield the largest request that helps if all pods of a gang lower theirs to it."""

    def attempt(trials: Trials) -> Found | None:
        return smallest(0, len(sizes), lambda n: _attempt(question, name, sizes[n - 1])(trials))

    if sizes:
        yield _candidate(question, name, sizes[0], attempt)


def _shared(sizes: list[int], asked: int, question: Question) -> list[int]:
    """Return what each of as many pods as there are may ask for to share a node, largest first."""
    many = range(1, len(question.uids) + 1)
    parts = {size // count for size in sizes for count in many}
    return sorted((size for size in parts if 0 < size < asked), reverse=True)


def _candidate(question: Question, name: str, size: int, attempt: Attempt) -> Candidate:
    asked = question.shape.requests.get(name)
    return Candidate(
        kind=ChangeKind.REQUEST,
        amount=(asked - size) * _MILLION // asked,
        text=name,
        answers=_RULES,
        attempt=attempt,
    )


def _attempt(question: Question, name: str, size: int) -> Attempt:
    shape = question.shape
    change = _lowered(shape, name, size)
    if name not in WELL_KNOWN and not change.field.startswith((_GIVEN, _RUNTIME)):
        # Kubernetes takes no request of such a resource that is not its limit, too.
        change = replace(change, message=f"{change.message}; its limit has to be the same")
    lowered = shape.requests.overlaid(Resources({name: size}))
    return attempt_shape(question, change, replace(shape, requests=lowered))


def _lowered(shape: PodShape, name: str, size: int) -> Change:
    """Return the change that has the pod request so much, by the field that counts."""
    asked = shape.requests.get(name)
    less = f"{readable_amount(name, asked - size, up=True)} less"
    fields = [one for one in shape.request_fields if one.resource == name]
    alone = [one for one in fields if one.without <= size]
    if alone:
        one = max(alone, key=lambda one: (one.amount, one.field))
        return _of_field(one, one.amount - (asked - size), less)
    running = all(one.field.startswith(_CONTAINERS) for one in fields)
    where = "over all containers" if running else "in all"
    message = f"ask for {named_amount(name, size)} {where}, {less}"
    if not running:
        message += f"; no single field is enough: {_together(fields, asked)}"
    return a_change(
        ChangeKind.REQUEST,
        message,
        field=f"{_CONTAINERS}[*].resources.requests.{name}" if running else "",
        old=format_amount(name, asked),
        new=format_amount(name, size),
    )


def _together(fields: list[RequestField], asked: int) -> str:
    """Say which field comes first where lowering it leaves too much; else which count alike."""
    one, *others = sorted(fields, key=lambda one: (one.without, -one.amount, one.field))
    said = f"{one.field} ({readable_amount(one.resource, one.amount)})"
    if one.without < asked:
        return f"even without {said} it asks for {readable_amount(one.resource, one.without)}"
    return " and ".join((said, *(other.field for other in others[:1]))) + " count alike"


def _of_field(one: RequestField, amount: int, less: str) -> Change:
    name = one.resource
    to = f"{named_amount(name, amount)}, {less}"
    if one.field.startswith(_GIVEN):
        message = f"be resized to {to}: on its node it counts by what it was given"
    elif one.field.startswith(_RUNTIME):
        runtime = one.field.removeprefix(_RUNTIME).removesuffix(_OVERHEAD)
        of = f'runtimeclass "{runtime}"'
        message = f"let the overhead of {of} be {to}; all of its pods share it"
    else:
        message = f"ask for {to}"
    return a_change(
        ChangeKind.REQUEST,
        message,
        field=f"{one.field}.{name}",
        old=format_amount(name, one.amount),
        new=format_amount(name, amount),
    )


def _sizes(question: Question, column: int) -> list[int]:
    """Return the most of the resource that each kind of place has room for, largest first.

    Kinds are: nodes that refuse for want of room alone; per pool what this plan creates; per pool a
    new node, with its limits and without.
    """
    bins, case = question.bins, question.leftover.case
    found = {_most(bins.free[_only_full(question)], case.vector, column)}
    found |= {
        _most(known.template.room[known.rows] - used, case.vector, column)
        for known, used in zip(bins.claims, bins.used, strict=True)
        if question.pool_rule(known.template.pool.name) not in _WHATEVER_IT_ASKS
    }
    for template in case.problem.templates:
        known = narrowest(case, template)
        if question.pool_rule(template.pool.name) in _WHATEVER_IT_ASKS:
            continue
        if isinstance(known, Rejection):
            continue
        found.add(_most(template.room[known.rows], case.vector, column))
        allowed = case.problem.limits[template.index].rows()
        if allowed is not None:
            found.add(_most(template.room[known.rows & allowed], case.vector, column))
    # To ask for nothing is no smaller request: whoever asks for a device needs one.
    return sorted((size for size in found if size > 0), reverse=True)


def _only_full(question: Question) -> Ints:
    """Return the positions of the standing bins on which it would be, had they more room."""
    refusals = question.leftover.refusals
    return np.concatenate([refusals.by(Rule.RESOURCES), refusals.by(None)])


def _most(room: Ints, vector: Ints, column: int) -> int:
    """Return the most of one resource in rows, (n, n_resources), that have all else; -1: none."""
    rest = vector.copy()
    rest[column] = 0
    asked = rest > 0
    fits = covering(room[:, asked], rest[asked])
    return int(room[fits, column].max(initial=-1)) if np.any(fits) else -1
