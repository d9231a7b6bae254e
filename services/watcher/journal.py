"""The questions behind the last decisions, kept so that each can be replayed."""

from dataclasses import dataclass, replace

from libs.collections.ring_buffer import RingBuffer
from libs.domain.errors import RevisionGone
from libs.domain.snapshot import ClusterSnapshot
from libs.domain.solution import Solution, SolveOptions

KEPT = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a plan was made from; the options say how many iterations ran."""

    plan_id: str
    snapshot: ClusterSnapshot
    options: SolveOptions


class Journal:
    """The newest decisions."""

    def __init__(self) -> None:
        self._decisions: RingBuffer[Decision] = RingBuffer(KEPT)

    def record(self, solution: Solution, snapshot: ClusterSnapshot) -> None:
        """Keep what a plan was made from."""
        options = solution.options
        if options.refines:
            options = replace(options, refine_iterations=solution.iterations)
        self._decisions.insert(
            Decision(plan_id=solution.plan_id, snapshot=snapshot, options=options)
        )

    def find(self, plan_id: str) -> Decision:
        """Return what a plan was made from.

        Raises:
            RevisionGone: the decision is not kept (any more).
        """
        for decision in reversed(tuple(self._decisions)):
            if decision.plan_id == plan_id:
                return decision
        raise RevisionGone(f'the inputs of plan "{plan_id}" are not kept; the last {KEPT} are')
