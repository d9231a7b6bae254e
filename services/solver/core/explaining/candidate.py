"""`Candidate`: a single change that may help, how it is tried, and what is known to choose by.

Apart from the lists of candidates, which are per object that is changed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from libs.domain.explanation import Change, ChangeKind
from libs.domain.pod import PodRow, PodShape
from libs.domain.reason import Rule, TargetKind
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.explaining.edits import row_of, with_shape
from services.solver.core.explaining.trial import Decided, Trials
from services.solver.core.packing.bins import Bins
from services.solver.core.reasons.reasons import Leftover


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A pod without a place, and what was decided about it."""

    decision: Decided
    row: PodRow
    shape: PodShape
    """Of the pods for which there is no place: itself, or members of its gang."""
    uids: tuple[str, ...]
    """Pods that are changed together: itself, or all members of its gang with that shape."""
    short: int
    """How many of its gang have no place; 1 for a pod on its own."""
    leftover: Leftover
    bins: Bins
    """As packing left them for those pods."""

    @property
    def snapshot(self) -> ClusterSnapshot:
        """The cluster as it is."""
        return self.decision.snapshot

    def pool_rule(self, pool: str) -> Rule | None:
        """Return the rule by which a pool refuses."""
        return next(
            (one.rule for one in self.leftover.reason.rejections if one.target == pool), None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A change that helps, and the snapshot with it."""

    change: Change
    edited: ClusterSnapshot


_NAMES_SHOWN = 3

Attempt = Callable[[Trials], Found | None]

SELECTION = frozenset({Rule.NODE_AFFINITY, Rule.OFFERINGS, Rule.RESOURCES, Rule.VOLUME_TOPOLOGY})
"""Rules that a pod's choice of nodes bears upon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A change that may help."""

    kind: ChangeKind
    amount: int = 0
    """How large it is among those of its kind."""
    text: str
    """What tells it from others of its kind, for a stable order."""
    answers: frozenset[Rule]
    """Rules that it bears upon."""
    attempt: Attempt


def a_change(kind: ChangeKind, message: str, **told: str) -> Change:
    """Return a change that is yet to be tried; `told` are fields of `Change`."""
    return Change(kind=kind, message=message, landing_kind=TargetKind.NODEPOOL, landing="", **told)


def once(change: Change, edited: Callable[[], ClusterSnapshot]) -> Attempt:
    """Return the attempt that makes the change and looks where the pod goes."""

    def attempt(trials: Trials) -> Found | None:
        snapshot = edited()
        landed = trials.land(snapshot)
        if landed is None:
            return None
        where = landed.landing
        change_made = replace(change, landing_kind=where.kind, landing=where.name)
        return Found(change=change_made, edited=snapshot)

    return attempt


def attempt_shape(question: Question, change: Change, shape: PodShape) -> Attempt:
    """Return the attempt with another shape of the pod, or of all members of its gang like it."""
    edited = partial(with_shape, question.snapshot, question.uids, shape)
    if question.uids == (question.row.uid,):
        return once(change, edited)
    return once(replace(change, message=f"{change.message} ({_whose(question)})"), edited)


def _whose(question: Question) -> str:
    """Return which pods of a gang are changed, by name."""
    rows = (row_of(question.snapshot, uid) for uid in question.uids)
    names = sorted(row.key for row in rows if row is not None)
    shown, hidden = ", ".join(names[:_NAMES_SHOWN]), len(names) - _NAMES_SHOWN
    if len(names) == 1:
        return f"pod {shown} of the gang"
    more = f" and {hidden} more" if hidden > 0 else ""
    return f"each of {len(names)} pods of the gang: {shown}{more}"


def smallest(low: int, high: int, attempt: Callable[[int], Found | None]) -> Found | None:
    """Return the attempt with the smallest number of (low, high] that helps, found by halving.

    The number `high` is taken to be one that helps if any does. From `low` on steps double first,
    as what helps is mostly near.
    """
    found = attempt(high)
    if found is None:
        return None
    step = 1
    while low + step < high:
        there = attempt(low + step)
        if there is not None:
            high, found = low + step, there
            break
        low, step = low + step, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        there = attempt(middle)
        if there is None:
            low = middle
        else:
            high, found = middle, there
    return found
