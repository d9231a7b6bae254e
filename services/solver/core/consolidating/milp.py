"""The delete set as a mixed-integer linear program, solved by HiGHS.

Give up node n or not (binary), buy so many of ware t (integer). Per resource, what the pods of
the nodes that go request is no more than what is free on the others and what is bought; no more is
bought than given up, since no command buys two nodes; per pool no more nodes go than its budgets,
in all no more pods move than allowed. Least is what is bought and what moves count, less what is
given up; of equal choices that one which moves fewer pods.

Apart because HiGHS is: it is loaded when first asked, and the answer does not depend on the
machine, as it runs on one thread with a fixed seed and a bounded number of nodes, without a clock.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from libs.domain.nodepool import DisruptionReason
from services.solver.core.consolidating.choice import Choice
from services.solver.core.highs import run
from services.solver.core.vectors import Bools, Floats, Ints

_DOLLAR = 1e9
_MOST_BOUGHT = 1e4
_PER_MOVE = 1e-5
"""What a move counts besides its price: too little to matter but where all else is equal."""
_OPTIONS = {"mip_rel_gap": 0.002, "mip_max_nodes": 500}


class _Row(NamedTuple):
    """At most `most` of these columns, each so often."""

    columns: Ints
    values: Floats
    most: float


def solved(choice: Choice, cancelled: Callable[[], bool]) -> Bools | None:
    """Return (n_leavers,): who goes; None where no answer was found within bounds.

    Raises:
        Unavailable: `cancelled` said so.
    """
    import highspy  # noqa: PLC0415  # as in `highs.py`

    lp = highspy.HighsLp()
    leavers, bought = len(choice.leavers), len(choice.wares.price)
    cost = [_PER_MOVE * one.moves - choice.worth(one) / _DOLLAR for one in choice.leavers]
    rows = list(_rows(choice))
    lp.num_col_, lp.num_row_ = leavers + bought, len(rows)
    lp.col_cost_ = np.concatenate([cost, choice.wares.price / _DOLLAR])
    lp.col_lower_ = np.zeros(leavers + bought)
    lp.col_upper_ = np.repeat([1.0, _MOST_BOUGHT], [leavers, bought])
    lp.row_lower_ = np.full(len(rows), -highspy.kHighsInf)
    lp.row_upper_ = np.array([row.most for row in rows])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(row.columns) for row in rows)], dtype=np.int32)
    lp.a_matrix_.index_ = np.array([one for row in rows for one in row.columns], np.int32)
    lp.a_matrix_.value_ = np.array([one for row in rows for one in row.values], np.float64)
    lp.integrality_ = [highspy.HighsVarType.kInteger] * (leavers + bought)
    solver = run(lp, _OPTIONS, cancelled)
    if solver.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    values = np.array(solver.getSolution().col_value[:leavers])
    goes: Bools = values > 0.5  # binary, but for rounding
    return goes


def _rows(choice: Choice) -> Iterator[_Row]:
    leavers = len(choice.leavers)
    everything = np.arange(leavers + len(choice.wares.price))
    load = np.array([one.load for one in choice.leavers])
    for column in np.flatnonzero(load.sum(axis=0)).tolist():
        scale = 1 / max(float(load[:, column].max()), 1.0)
        lost = (load[:, column] + choice.own[:, column]) * scale
        won = -choice.wares.room[:, column] * scale
        yield _Row(everything, np.concatenate([lost, won]), float(choice.free[column]) * scale)
    if len(choice.wares.price):
        yield _Row(everything, np.where(everything < leavers, -1.0, 1.0), 0.0)
    yield from _within_budgets(choice)
    moves = np.array([one.moves for one in choice.leavers])
    if choice.most_moves is not None and choice.most_moves < moves.sum():
        yield _Row(everything[:leavers], moves.astype(np.float64), float(choice.most_moves))


def _within_budgets(choice: Choice) -> Iterator[_Row]:
    pools = np.array([one.candidate.nodepool for one in choice.leavers])
    reasons = np.array([one.reason for one in choice.leavers])
    for pool in choice.budgets.pools:
        here = pools == pool
        bounds = [(here, choice.budgets.left_in_all(pool))]
        bounds += [
            (here & (reasons == reason), choice.budgets.left(pool, reason))
            for reason in (DisruptionReason.EMPTY, DisruptionReason.UNDERUTILIZED)
        ]
        for some, most in bounds:
            columns = np.flatnonzero(some)
            if most < len(columns):
                yield _Row(columns, np.ones(len(columns)), float(most))
