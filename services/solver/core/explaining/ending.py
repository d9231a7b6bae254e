"""How packing ended for a pod: its group among all others, and what the rules say of it there.

Apart because a gang that came out short is in no packing any more: it is offered what the others
left, as `gangs.py` does it, and asked is the first of its pods that has no place once the rest of
it has theirs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from libs.domain.pod import PodRow
from libs.domain.reason import Unplaceable
from services.solver.core.explaining.trial import Decided
from services.solver.core.packing.encode import problem
from services.solver.core.packing.gang_orders import members
from services.solver.core.packing.packing import Packer
from services.solver.core.reasons.reasons import Leftover, leftover
from services.solver.core.reasons.refusals import Refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A group of pods in a packing that has ended."""

    packer: Packer
    leftover: Leftover
    uids: tuple[str, ...]
    """The pod; of a gang that is short all that are like the first one without a place."""
    first: str
    """Uid of the first one without a place; empty where only the number of pods is too small."""
    short: int = 1
    """How many have no place."""
    of_gang: bool = False
    """Whether it is a gang that is short."""


def ending(decision: Decided, row: PodRow, cancelled: Callable[[], bool], *, left: bool) -> Ending:
    """Return how packing ended for a pod that waits.

    Args:
        decision: what was decided.
        row: the pod.
        cancelled: asked between groups of pods; True ends the work.
        left: whether it has no place.
    """
    packer = decision.packed.packer
    groups = packer.problem.groups
    index = next((i for i, one in enumerate(groups) if row.uid in one.uids), None)
    if index is None or row.gang in decision.packed.short:
        return _of_gang(decision, row, cancelled)
    found = _leftover(decision, packer, index, left=left)
    return Ending(packer=packer, leftover=found, uids=(row.uid,), first=row.uid)


def _leftover(decision: Decided, packer: Packer, index: int, *, left: bool) -> Leftover:
    found = leftover(packer, decision.encoded.refused, index, left=left)
    if packer.problem.groups[index].existing_only:
        # For those who only ask if there is room no pool is asked.
        return replace(found, reason=replace(found.reason, rejections=()))
    return found


def _of_gang(decision: Decided, row: PodRow, cancelled: Callable[[], bool]) -> Ending:
    groups = decision.packed.problem.groups
    rank = 1 + max((one.late for one in groups), default=0)
    most = decision.packed.most.get(row.gang)
    pods = members(decision.encoded.work.groups, row.gang) if most is None else most.pods
    mine = [replace(one, late=rank) for one in pods]
    theirs = frozenset(uid for one in mine for uid in one.uids)
    # Whose room was kept asks for it now.
    there = [one for one in groups if theirs.isdisjoint(one.uids)]
    packer = Packer(problem(decision.encoded, (*there, *mine)), cancelled)
    packer.run()
    numbers = range(len(there), len(packer.left))
    short = next((index for index in numbers if packer.left[index]), None)
    if short is None:
        own = next(index for index in numbers if row.uid in packer.problem.groups[index].uids)
        found = _leftover(decision, packer, own, left=False)
        nothing = replace(
            found,
            reason=Unplaceable(message=found.reason.message),
            refusals=Refusals.of(len(found.refusals)),
        )
        return Ending(packer=packer, leftover=nothing, uids=(), first="", short=0, of_gang=True)
    group = packer.groups[short]
    return Ending(
        packer=packer,
        leftover=_leftover(decision, packer, short, left=True),
        uids=tuple(sorted(group.uids)),
        first=group.uids[-packer.left[short]],
        short=sum(packer.left[index] for index in numbers),
        of_gang=True,
    )
