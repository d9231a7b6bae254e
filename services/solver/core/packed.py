"""`packed`: the fast stage as a whole, with the state in which it ended.

Apart from `solve` because whoever asks "what if" of one decision, refining among them, packs again.
What comes before the first pod is placed, `ready`, takes as long as all that comes then, and can be
done before anybody asks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from services.solver.core.answer.answer import Answer, answer
from services.solver.core.packing.encode import Encoded, problem
from services.solver.core.packing.foresight import foreseeing
from services.solver.core.packing.gang_orders import Most
from services.solver.core.packing.latecomers import with_latecomers_first
from services.solver.core.packing.other_orders import in_best_order
from services.solver.core.packing.packing import Packer
from services.solver.core.packing.problem import Problem
from services.solver.core.pods.grouping import Group

Cancelled = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An answer with the state that packing ended in."""

    problem: Problem
    packer: Packer
    short: Mapping[str, str]
    """Gangs that were left out, with the reason."""
    most: Mapping[str, Most]
    """How many pods of such a gang could have places, as far as that was tried."""
    answer: Answer

    @property
    def counts(self) -> tuple[int, ...]:
        """Return how many pods of each group have a place."""
        groups, left = self.problem.groups, self.packer.left
        return tuple(len(one.uids) - out for one, out in zip(groups, left, strict=True))


def ready(encoded: Encoded) -> Packer:
    """Return who packs all waiting pods, with nothing packed yet; good for one `packed`."""
    packer = Packer(problem(encoded, encoded.work.groups), _nobody_left)
    packer.tell_first_asks(range(len(packer.problem.groups)))
    return packer


def packed(encoded: Encoded, cancelled: Cancelled, first: Packer | None = None) -> Packed:
    """Pack until every gang has all its places or none, and nobody is left out by the order alone.

    Args:
        encoded: what to pack.
        cancelled: asked now and then; True ends the work.
        first: what was made ready for it; this uses it up.

    Raises:
        Unavailable: `cancelled` said so.
    """
    made = [] if first is None else [first]

    def begun(groups: tuple[Group, ...]) -> Packer:
        if made and groups is encoded.work.groups:
            packer = made.pop()
            packer.cancelled = cancelled
            return packer
        return Packer(problem(encoded, groups), cancelled)

    def pack(groups: tuple[Group, ...]) -> Packer:
        while True:
            packer = foreseeing(encoded, begun(groups), cancelled)
            if not packer.crowded:
                return packer
            groups = tuple(
                replace(group, only_held=True) if index in packer.crowded else group
                for index, group in enumerate(groups)
            )

    snapshot = encoded.snapshot
    work, found = in_best_order(snapshot, encoded.work, pack)
    found = with_latecomers_first(snapshot, work, found, pack)
    packer = found.packer
    return Packed(
        problem=packer.problem,
        packer=packer,
        short=found.short,
        most=found.most,
        answer=answer(encoded, packer.problem, packer, found.short),
    )


def _nobody_left() -> bool:
    return False
