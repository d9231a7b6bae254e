"""The delete set: which leavers are best given up together, by what their pods request in sum.

Apart because it knows one rule only, that requests fit in sum; what comes of it is proved
elsewhere.
"""

from collections.abc import Callable, Iterable

from services.solver.core.consolidating import milp
from services.solver.core.consolidating.choice import Choice
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.vectors import covering


def chosen(choice: Choice, cancelled: Callable[[], bool] = lambda: False) -> tuple[Leaver, ...]:
    """Return the leavers to give up, those first that are worth most for each move.

    Raises:
        Unavailable: `cancelled` said so.
    """
    if not choice.leavers:
        return ()
    goes = milp.solved(choice, cancelled)
    if goes is None:
        return greedily(choice)
    picked = (one for one, is_gone in zip(choice.leavers, goes.tolist(), strict=True) if is_gone)
    return by_worth(choice, picked)


def greedily(choice: Choice) -> tuple[Leaver, ...]:
    """Return leavers one after the other as long as their pods fit in sum, and nothing is bought.

    For want of a better answer.
    """
    own = {one.node: row for one, row in zip(choice.leavers, choice.own, strict=True)}
    free = choice.free
    moves = choice.most_moves
    budgets = choice.budgets
    found = []
    for one in by_worth(choice, choice.leavers):
        left = free - own[one.node] - one.load
        affordable = budgets.allows((one,)) and (moves is None or one.moves <= moves)
        if choice.worth(one) < 0 or not affordable or not covering(left, 0):
            continue
        free = left
        moves = None if moves is None else moves - one.moves
        budgets = budgets.without((one,))
        found.append(one)
    return tuple(found)


def by_worth(choice: Choice, leavers: Iterable[Leaver]) -> tuple[Leaver, ...]:
    """Return leavers in the order in which they are given up."""
    return tuple(
        sorted(
            leavers,
            key=lambda one: (
                not choice.budgets.is_scarcer(one),
                -choice.worth(one) / max(one.moves, 1),
                one.moves > 0,
                one.node,
            ),
        )
    )
