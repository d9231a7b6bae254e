"""What a delete set is chosen from: leavers, room in sum, what could be bought, the bounds.

Apart because the two ways to choose look at the same numbers.
"""

from dataclasses import dataclass

import numpy as np

from services.solver.core.consolidating.budgets import Budgets
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.vectors import Ints, covering


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wares:
    """What may be bought: nothing that something no dearer has as much as of every resource."""

    price: Ints
    """(n,): nano-dollars per hour, ascending."""
    room: Ints
    """(n, n_resources)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """What is chosen from, and within which bounds."""

    leavers: tuple[Leaver, ...]
    """In order of node."""
    own: Ints
    """(n_leavers, n_resources): what is free on each, lost if it goes."""
    free: Ints
    """(n_resources,): what is free on all bins that take pods, leavers included."""
    wares: Wares
    budgets: Budgets
    move_price: int
    """Nano-dollars per hour of saving that moving one pod is worth."""
    most_moves: int | None

    def worth(self, leaver: Leaver) -> int:
        """Return what giving a node up is worth, moves counted."""
        return leaver.price - self.move_price * leaver.moves


def wares(price: Ints, room: Ints) -> Wares:
    """Return what is worth buying of some rows, (n,) and (n, n_resources)."""
    kept: list[int] = []
    for row in np.lexsort((-room.sum(axis=1), price)).tolist():
        if not kept or not covering(room[kept], room[row]).any():
            kept.append(row)
    return Wares(price=price[kept], room=room[kept])
