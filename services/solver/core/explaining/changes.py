"""The smallest single changes with which a pod has a place: what is tried, in which order.

Apart from the lists of candidates because the order is the answer. Candidates are tried smallest
first until `MOST_SHOWN` help or no trial is left; of a kind and an object only the first that helps
is kept. The order, compared left to right:

1. Changes that bear upon a rule which refused somewhere, before those that do not: to give up an
   anti-affinity may help where a limit is reached, but is not what is wrong.
2. By kind, in the order of `ChangeKind`: a slip of the hand before anything else, the pod's own
   freedom before what it needs, the pod before a gang, a gang before a pool, which all pods share,
   and a pool before what only the cloud can do.
3. By amount within a kind, such as the share of a request that goes.
4. By name, so that the order is total.
"""

from collections.abc import Iterator
from dataclasses import replace

from libs.domain.explanation import ChangeKind
from libs.domain.reason import Rule
from libs.domain.snapshot import keyed
from services.solver.core.explaining.candidate import (
    Attempt,
    Candidate,
    Found,
    Question,
    a_change,
    once,
    smallest,
)
from services.solver.core.explaining.free_volume_changes import free_volume_candidates
from services.solver.core.explaining.limit_changes import limit_candidates
from services.solver.core.explaining.pod_changes import pod_candidates
from services.solver.core.explaining.pool_changes import pool_candidates
from services.solver.core.explaining.request_changes import request_candidates
from services.solver.core.explaining.spread_changes import spread_candidates
from services.solver.core.explaining.trial import Trials

MOST_SHOWN = 3
_SIZES = {kind: number for number, kind in enumerate(ChangeKind)}


def changes(question: Question, trials: Trials) -> tuple[Found, ...]:
    """Return the smallest changes that help, smallest first; empty if no single one does."""
    failing = _failing(question)
    candidates = sorted(_candidates(question), key=lambda one: _rank(one, failing))
    found: dict[tuple[ChangeKind, str], Found] = {}
    for candidate in candidates:
        if len(found) >= MOST_SHOWN or trials.cut_short:
            break
        one = candidate.attempt(trials)
        if one is not None:
            found.setdefault((one.change.kind, one.change.nodepool), one)
    return tuple(found.values())


def _candidates(question: Question) -> Iterator[Candidate]:
    yield from _gang(question)
    if not question.uids:
        return
    yield from pod_candidates(question)
    yield from spread_candidates(question)
    yield from request_candidates(question)
    yield from free_volume_candidates(question)
    yield from limit_candidates(question)
    yield from pool_candidates(question)


def _failing(question: Question) -> frozenset[Rule]:
    reason = question.leftover.reason
    return frozenset(
        (*(one.rule for one in reason.rejections), *(rule for rule, _ in reason.existing))
    )


def _rank(one: Candidate, failing: frozenset[Rule]) -> tuple[bool, int, int, str]:
    return failing.isdisjoint(one.answers), _SIZES[one.kind], one.amount, one.text


def _gang(question: Question) -> Iterator[Candidate]:
    gang = question.snapshot.gangs.get(question.row.gang)
    if gang is None or gang.min_members <= 1:
        return
    yield Candidate(
        kind=ChangeKind.GANG,
        text=gang.key,
        answers=frozenset(Rule),
        attempt=_smaller_gang(question),
    )


def _smaller_gang(question: Question) -> Attempt:
    """Return the attempt with as many members as there are places for."""
    snapshot, gang = question.snapshot, question.snapshot.gangs[question.row.gang]

    def attempt(trials: Trials) -> Found | None:
        def with_fewer(less: int) -> Found | None:
            number = gang.min_members - less
            pods = "1 pod" if number == 1 else f"{number} pods together"
            message = f'let gang "{gang.key}" do with {pods}'
            if gang.request:
                of = f'provisioningrequest "{gang.namespace}/{gang.request}"'
                message = f"let {of} ask for {pods}"
            change = a_change(
                ChangeKind.GANG,
                message,
                field="spec.podSets[*].count" if gang.request else "spec.minMember",
                old=str(gang.min_members),
                new=str(number),
            )
            gangs = {**snapshot.gangs, gang.key: replace(gang, min_members=number)}
            edited = replace(snapshot, gangs=keyed("gangs", gangs.values()))
            return once(change, lambda: edited)(trials)

        return smallest(0, gang.min_members - 1, with_fewer)

    return attempt
