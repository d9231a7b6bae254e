"""Larger limits of a pool that may give a pod a place, with the number that is needed.

Apart because the number is looked for twice: first what one node more takes; then, where others
come before the pod, what the pool takes with as much of the resource as anybody wants.
"""

from collections.abc import Iterator

import numpy as np

from libs.domain.explanation import ChangeKind
from libs.domain.nodepool import NodePool
from libs.domain.reason import Rejection, Rule, TargetKind
from libs.domain.resources import NODES, format_amount
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.explaining.candidate import (
    Attempt,
    Candidate,
    Found,
    Question,
    a_change,
    once,
    smallest,
)
from services.solver.core.explaining.edits import with_limits, with_pool
from services.solver.core.explaining.trial import Trials
from services.solver.core.offers.template import Template
from services.solver.core.packing.problem import Problem
from services.solver.core.reasons.pool_reasons import narrowest

_ENOUGH = 2**58
"""Of any resource, more than anybody asks for."""


def limit_candidates(question: Question) -> Iterator[Candidate]:
    """Yield a larger limit of each resource that the pools limit, where limits refuse."""
    for template in question.decision.encoded.templates:
        if question.pool_rule(template.pool.name) is not Rule.POOL_LIMITS:
            continue
        for name in template.pool.limits:
            yield Candidate(
                kind=ChangeKind.POOL_LIMIT,
                text=f"{template.pool.name} {name}",
                answers=frozenset({Rule.POOL_LIMITS}),
                attempt=_attempt(question, template, name),
            )


def _attempt(question: Question, template: Template, name: str) -> Attempt:
    pool = template.pool

    def raised(trials: Trials, number: int) -> Found | None:
        change = a_change(
            ChangeKind.POOL_LIMIT,
            f'raise the limit of nodepool "{pool.name}" to {format_amount(name, number)} {name}',
            nodepool=pool.name,
            field=f"spec.limits.{name}",
            old=format_amount(name, pool.limits.get(name)),
            new=format_amount(name, number),
        )
        return once(change, lambda: _with_limit(question, pool, name, number))(trials)

    def attempt(trials: Trials) -> Found | None:
        used = _used(question.leftover.case.problem, pool.name, name)
        each = _least(question, template, name)

        def for_nodes(count: int) -> Found | None:
            number = used + count * each
            return raised(trials, number) if number > pool.limits.get(name) else None

        if (found := smallest(0, question.short, for_nodes)) is not None:
            return found
        landed = trials.land(_with_limit(question, pool, name, _ENOUGH))
        if landed is None or landed.landing.kind is not TargetKind.NODEPOOL:
            return None
        return raised(trials, _used(landed.decision.packed.problem, pool.name, name))

    return attempt


def _with_limit(question: Question, pool: NodePool, name: str, number: int) -> ClusterSnapshot:
    return with_pool(question.snapshot, with_limits(pool, **{name: number}))


def _used(packed: Problem, pool: str, name: str) -> int:
    """Return what counts towards a limit where packing ended."""
    for limits in packed.limits:
        if limits.template.pool.name == pool:
            return limits.template.pool.limits.get(name) - limits.left().get(name)
    return 0


def _least(question: Question, template: Template, name: str) -> int:
    """Return the least of a limited resource that a node for the pod has, other limits held."""
    if name == NODES:
        return 1
    case = question.leftover.case
    known = narrowest(case, template)
    if isinstance(known, Rejection):
        return 0
    rows = known.rows_for(case.vector)
    limits = case.problem.limits[template.index]
    left = limits.left()
    for column, other in enumerate(template.limited):
        if other != name:
            rows &= template.capacities[:, column] <= left.get(other)
    column = template.limited.index(name)
    found = template.capacities[np.flatnonzero(rows), column]
    return int(found.min()) if len(found) else 0
