"""Changes of spread constraints that may give a pod a place: how uneven, over how few domains.

Apart because here numbers are looked for: the smallest maxSkew, the largest minDomains that help.
"""

from collections.abc import Iterator
from dataclasses import replace

from libs.domain.explanation import ChangeKind
from libs.domain.pod import PodShape
from libs.domain.reason import Rule
from libs.domain.topology import NodeInclusionPolicy, TopologySpread
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

_FIELD = "spec.topologySpreadConstraints"
_SPREAD = frozenset({Rule.TOPOLOGY_SPREAD})
_LARGE_SKEW = 1024
"""A larger one is as good as no constraint."""


def spread_candidates(question: Question) -> Iterator[Candidate]:
    """Yield changes of each constraint that has to hold."""
    for index, constraint in enumerate(question.shape.topology_spread):
        if not constraint.required:
            continue
        yield _candidate(ChangeKind.MAX_SKEW, index, _skew(question, index, constraint))
        if constraint.min_domains is not None and constraint.min_domains > 1:
            attempt = _domains(question, index, constraint, constraint.min_domains)
            yield _candidate(ChangeKind.MIN_DOMAINS, index, attempt)
        if constraint.node_taints_policy is NodeInclusionPolicy.IGNORE:
            honest = replace(constraint, node_taints_policy=NodeInclusionPolicy.HONOR)
            change = a_change(
                ChangeKind.TAINTS_POLICY,
                f"spread over {constraint.topology_key} without nodes whose taints keep it away",
                field=f"{_FIELD}[{index}].nodeTaintsPolicy",
                old="Ignore",
                new="Honor",
            )
            edited = _with(question.shape, index, honest)
            yield _candidate(change.kind, index, attempt_shape(question, change, edited))
        yield _candidate(ChangeKind.SOFT_SPREAD, index, _soft(question, index, constraint))


def _candidate(kind: ChangeKind, index: int, attempt: Attempt) -> Candidate:
    return Candidate(kind=kind, text=f"{index:03}", answers=_SPREAD, attempt=attempt)


def _with(shape: PodShape, index: int, constraint: TopologySpread) -> PodShape:
    constraints = list(shape.topology_spread)
    constraints[index] = constraint
    return replace(shape, topology_spread=tuple(constraints))


def _soft(question: Question, index: int, constraint: TopologySpread) -> Attempt:
    """Return the attempt that only prefers the spread; minDomains may not stand beside that."""
    least = constraint.min_domains
    change = a_change(
        ChangeKind.SOFT_SPREAD,
        f"only prefer to be spread over {constraint.topology_key}"
        + ("" if least is None else ", without minDomains"),
        field=f"{_FIELD}[{index}]" + (".whenUnsatisfiable" if least is None else ""),
        old="DoNotSchedule" + ("" if least is None else f" with minDomains {least}"),
        new="ScheduleAnyway",
    )
    soft = replace(constraint, required=False, min_domains=None)
    return attempt_shape(question, change, _with(question.shape, index, soft))


def _skew(question: Question, index: int, constraint: TopologySpread) -> Attempt:
    def attempt(trials: Trials) -> Found | None:
        def with_skew(number: int) -> Found | None:
            change = a_change(
                ChangeKind.MAX_SKEW,
                f"raise maxSkew over {constraint.topology_key} to {number}",
                field=f"{_FIELD}[{index}].maxSkew",
                old=str(constraint.max_skew),
                new=str(number),
            )
            edited = _with(question.shape, index, replace(constraint, max_skew=number))
            return attempt_shape(question, change, edited)(trials)

        return smallest(constraint.max_skew, constraint.max_skew + _LARGE_SKEW, with_skew)

    return attempt


def _domains(question: Question, index: int, constraint: TopologySpread, wanted: int) -> Attempt:
    def attempt(trials: Trials) -> Found | None:
        def with_fewer(less: int) -> Found | None:
            change = a_change(
                ChangeKind.MIN_DOMAINS,
                f"lower minDomains over {constraint.topology_key} to {wanted - less}",
                field=f"{_FIELD}[{index}].minDomains",
                old=str(wanted),
                new=str(wanted - less),
            )
            edited = _with(question.shape, index, replace(constraint, min_domains=wanted - less))
            return attempt_shape(question, change, edited)(trials)

        return smallest(0, wanted - 1, with_fewer)

    return attempt
