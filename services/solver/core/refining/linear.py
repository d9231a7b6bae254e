"""The linear program of a fluid, on HiGHS: what room and instances are worth at the optimum.

Apart because nothing is believed of what comes back: `bound.py` makes a bound of any prices
whatever, these are only those by which it gets near.
"""

from dataclasses import dataclass

import numpy as np

from services.solver.core.highs import run
from services.solver.core.refining.fluid import NO_STOCK, Fluid
from services.solver.core.vectors import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prices:
    """What is scarce is worth, in nano-dollars per hour."""

    room: Floats
    """(n_offers, n_dims): per unit of room of an offer."""
    free: Floats
    """(n_classes, n_dims): per unit of room that stands already."""
    stock: Floats
    """(n_stocks,): per instance of a reservation."""
    bought: Floats
    """(n_offers,): how many instances of each offer are bought."""
    worth: Floats
    """(n,): what a pod of each group is worth."""


def optimum(fluid: Fluid) -> Prices | None:
    """Return the prices at the optimum; None where the solver finds none."""
    return _solve(_Program(fluid))


class _Program:
    """The program: pods flow from groups to offers and standing room."""

    def __init__(self, fluid: Fluid) -> None:
        self.fluid = fluid
        self.group, self.offer = np.nonzero(fluid.usable)
        self.at_group, self.at_class = np.nonzero(fluid.cap > 0)
        self.cap = np.minimum(fluid.cap, fluid.count[:, None])[self.at_group, self.at_class]
        self.scale = float(fluid.offers.price.max(initial=1.0)) or 1.0
        """Prices are divided by it: the solver's tolerances are absolute."""

    def columns(self) -> tuple[Floats, Floats]:
        """Return cost and upper bound of pods to offers, pods to standing room, instances."""
        pods = len(self.offer) + len(self.at_class)
        cost = np.concatenate([np.zeros(pods), self.fluid.offers.price / self.scale])
        upper = np.full(len(cost), np.inf)
        upper[len(self.offer) : pods] = self.cap
        return cost, upper

    def rows(self) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        """Return the matrix as (row, column, value), and the bounds of its rows."""
        fluid, offers = self.fluid, self.fluid.offers
        dims, many = self.fluid.request.shape[1], len(self.fluid.count)
        pods = len(self.offer) + len(self.at_class)
        at, column, value = [self.group], [np.arange(len(self.offer))], [np.ones(len(self.offer))]
        at.append(self.at_group)
        column.append(np.arange(len(self.offer), pods))
        value.append(np.ones(len(self.at_class)))
        for dim in range(dims):
            unit = np.maximum(offers.room[:, dim], 1)
            start = many + dim * len(offers.price)
            at += [start + self.offer, start + np.arange(len(unit))]
            column += [np.arange(len(self.offer)), pods + np.arange(len(unit))]
            value += [
                self.fluid.request[self.group, dim] / unit[self.offer],
                -offers.room[:, dim] / unit,
            ]
        start = many + dims * len(offers.price)
        for dim in range(dims):
            unit = np.maximum(fluid.free[:, dim], 1)
            at.append(start + dim * len(unit) + self.at_class)
            column.append(np.arange(len(self.offer), pods))
            value.append(self.fluid.request[self.at_group, dim] / unit[self.at_class])
        start += dims * len(fluid.free)
        stocked = np.flatnonzero(offers.stock != NO_STOCK)
        at.append(start + offers.stock[stocked])
        column.append(pods + stocked)
        value.append(np.ones(len(stocked)))
        standing = (fluid.free / np.maximum(fluid.free, 1)).T.reshape(-1)
        upper = np.concatenate(
            [np.full(many, np.inf), np.zeros(dims * len(offers.price)), standing, offers.left]
        )
        lower = np.full(len(upper), -np.inf)
        lower[:many] = self.fluid.count
        return np.concatenate(at), np.concatenate(column), np.concatenate(value), lower, upper

    def prices(self, duals: Floats, values: Floats) -> Prices:
        """Return what the duals of the rows say, per unit of room."""
        fluid, offers = self.fluid, self.fluid.offers
        worth = np.maximum(-duals, 0) * self.scale
        dims, many = self.fluid.request.shape[1], len(self.fluid.count)
        bought, there = len(offers.price), len(fluid.free)
        room = worth[many : many + dims * bought].reshape(dims, bought).T
        start = many + dims * bought
        free = worth[start : start + dims * there].reshape(dims, there).T
        return Prices(
            room=room / np.maximum(offers.room, 1),
            free=free / np.maximum(fluid.free, 1),
            stock=worth[start + dims * there :],
            bought=values[len(values) - bought :],
            worth=np.maximum(duals[:many], 0) * self.scale,
        )


def _solve(program: _Program) -> Prices | None:
    import highspy  # noqa: PLC0415  # as in `highs.py`

    cost, upper = program.columns()
    at, column, value, row_lower, row_upper = program.rows()
    order = np.lexsort((at, column))
    filled = np.flatnonzero(value[order])
    order = order[filled]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(cost), len(row_lower)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(len(cost)), upper
    lp.row_lower_, lp.row_upper_ = row_lower, row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    starts = np.searchsorted(column[order], np.arange(len(cost) + 1))
    lp.a_matrix_.start_ = starts.astype(np.int32)
    lp.a_matrix_.index_ = at[order].astype(np.int32)
    lp.a_matrix_.value_ = value[order]
    solver = run(lp, {"presolve": "off"})
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = solver.getSolution()
    return program.prices(np.array(found.row_dual), np.array(found.col_value))
