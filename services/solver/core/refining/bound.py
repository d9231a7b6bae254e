"""Lower bounds: no valid plan for the same pods costs less.

A bound is made of prices for what is scarce: where no offer's room is worth more than the offer
costs, what pods would have to pay for the cheapest room that they may use is what they cost at
least, less what the room that stands already is worth. That holds whatever the prices are, so
nothing depends on the exactness of a solver of linear programs: it only finds good prices.

Source: weak duality of linear programs; `docs/decisions/0009-refining.md`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from services.solver.core.refining.fluid import NO_STOCK, Fluid
from services.solver.core.refining.linear import Prices
from services.solver.core.refining.sifting import prices
from services.solver.core.vectors import Floats

SAFE = 1e-9
"""Share that is taken off, far more than sums of floats can be wrong by."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bound:
    """A lower bound, and what it says of groups and offers."""

    nanos_per_hour: int
    worth: Floats
    """(n,): what a pod of each group of the fluid costs at least, in nano-dollars per hour."""
    bought: Floats
    """(n_offers,): how many instances are bought where pods can be divided."""


def lower_bound(fluid: Fluid, spent: Callable[[], bool] = lambda: False) -> Bound:
    """Return a bound that is near: within some percent of what plans really can cost.

    Once `spent` says so it comes of what is known by then, and is valid all the same.
    """
    if not len(fluid.count) or not len(fluid.offers.price):
        return Bound(nanos_per_hour=0, worth=np.zeros(len(fluid.count)), bought=np.zeros(0))
    found = prices(fluid, spent)
    if found is None:
        found = _unknown(fluid)
    return certified(fluid, found)


def certified(fluid: Fluid, found: Prices) -> Bound:
    """Return the bound that prices give, once no room is worth more than its offer costs."""
    offers = fluid.offers
    stocked = offers.stock != NO_STOCK
    cost = offers.price.copy()
    cost[stocked] += found.stock[offers.stock[stocked]]
    room = _worth_their_price(found.room, offers.room, cost)
    asked = _cheapest(fluid, room)
    worth, total = _paid(fluid, asked, found.free)
    total -= float((found.free * fluid.free).sum()) + float(found.stock @ offers.left)
    return Bound(
        nanos_per_hour=max(0, int(total * (1 - SAFE))),
        worth=worth,
        bought=found.bought,
    )


def _worth_their_price(worth: Floats, room: Floats, cost: Floats) -> Floats:
    """Return (n_offers, n_dims): prices scaled so that each offer's room is worth what it costs."""
    total = (worth * np.maximum(room, 0)).sum(axis=1)
    some = total > 0
    scale = np.divide(cost, total, out=np.zeros_like(cost), where=some)
    found: Floats = worth * scale[:, None]
    # Of what the program says nothing, every dimension is worth the same share of the price.
    found[~some] = (cost[:, None] / np.maximum(room, 1) / room.shape[1])[~some]
    return found


def _cheapest(fluid: Fluid, room: Floats) -> Floats:
    """Return (n,): the least that a pod pays for room on an offer; infinite if it may use none."""
    asked = fluid.request @ room.T
    asked[~fluid.usable] = np.inf
    return np.asarray(asked.min(axis=1))


def _paid(fluid: Fluid, asked: Floats, free: Floats) -> tuple[Floats, float]:
    """Return what pods of each group are worth, and what all would pay.

    A pod is worth at most what it pays on an offer; of those that fit on standing room, whatever
    they are worth beyond the price of that room is lost. So the worth is one of those prices.
    """
    there = fluid.request @ free.T
    there[fluid.cap <= 0] = np.inf
    choices = np.minimum(np.column_stack([there, asked]), asked[:, None])
    choices[~np.isfinite(choices)] = 0
    gains = choices * fluid.count[:, None]
    for one in range(there.shape[1]):
        beyond = np.maximum(choices - there[:, one, None], 0)
        gains -= beyond * fluid.cap[:, one, None].clip(max=1e300)
    best = gains.argmax(axis=1)
    every = np.arange(len(best))
    return choices[every, best], float(gains[every, best].sum())


def _unknown(fluid: Fluid) -> Prices:
    """Return prices of which nothing is known."""
    offers = fluid.offers
    return Prices(
        room=np.zeros_like(offers.room),
        free=np.zeros_like(fluid.free),
        stock=np.zeros_like(offers.left),
        bought=np.zeros_like(offers.price),
        worth=np.zeros_like(fluid.count),
    )
