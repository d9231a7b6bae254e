"""Sifting: the linear program of a fluid on few offers at a time, and few groups.

Apart because it only saves time: of a thousand offers some twenty are bought from at the optimum.
The program is solved on some, then the others are looked at: one that would still be a bargain at
the prices found joins, until there is none. Groups beyond a number are joined with others of like
shape, at the mean of what they ask for.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np

from services.solver.core.refining.fluid import NO_STOCK, Fluid, Offers
from services.solver.core.refining.linear import Prices, optimum
from services.solver.core.vectors import Floats, Ints

MOST_GROUPS = 64
"""Groups, joined or not, in one program; its time grows faster than their number."""

_ROUNDS = 6
_MOST_ADDED = 24
_BARGAIN = 1 - 1e-3
"""An offer joins whose room can be had for less than this share of what it is worth."""

_MIXES = np.array(tuple(product((1.0, 4.0), (1.0, 4.0))))
"""Weights of cpu and memory by which the first offers are found."""


def prices(fluid: Fluid, spent: Callable[[], bool] = lambda: False) -> Prices | None:
    """Return prices near the optimum for all offers; None where there are none to be found.

    Args:
        fluid: what is bought and sold.
        spent: asked between two programs: whether those found so far have to do.
    """
    joined = _joined(fluid)
    chosen = _first(joined)
    found = None
    for _ in range(_ROUNDS):
        some = optimum(_only(joined, chosen))
        if some is None:
            return found
        found, share = _spread(joined, chosen, some)
        bargains = np.flatnonzero(share < _BARGAIN)
        added = bargains[np.argsort(share[bargains], kind="stable")][:_MOST_ADDED]
        if not len(added) or spent():
            break
        chosen = np.union1d(chosen, added)
    return found


def _joined(fluid: Fluid) -> Fluid:
    """Return the fluid with groups joined where they are too many."""
    if len(fluid.count) <= MOST_GROUPS:
        return fluid
    label = _labels(fluid)
    members = np.zeros((int(label.max()) + 1, len(label)))
    members[label, np.arange(len(label))] = fluid.count
    count = members.sum(axis=1)
    users = members @ fluid.usable.astype(np.float64)
    most = users * 2 >= np.minimum(count, users.max(axis=1))[:, None]
    all_of_it = members > 0
    return replace(
        fluid,
        count=count,
        request=(members @ fluid.request) / count[:, None],
        usable=most,
        cap=all_of_it.astype(np.float64) @ fluid.cap,
        groups=np.zeros(0, np.int64),
    )


def _labels(fluid: Fluid) -> Ints:
    """Return (n,): which groups are joined: neighbours in shape of who may use the same."""
    shared = np.hstack([fluid.kinds[:, None], fluid.request[:, 3:] > 0])
    _, kind = np.unique(shared, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    sizes = np.maximum(fluid.request[:, :2], 1)
    ratio = np.log(sizes[:, 0] / sizes[:, 1])
    order = np.lexsort((sizes[:, 0], ratio, kind))
    weight = (fluid.count[:, None] * fluid.request[:, :2] / (fluid.count @ sizes)).max(axis=1)
    share = np.cumsum(weight[order]) * MOST_GROUPS // (weight.sum() * (1 + 1e-9))
    pairs = np.column_stack([kind[order], share])
    changes = np.ones(len(order), np.bool_)
    changes[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    label = np.empty(len(order), np.int64)
    label[order] = np.cumsum(changes) - 1
    return label


def _first(fluid: Fluid) -> Ints:
    """Return offers to begin with: the cheapest for each group, by some weights of resources.

    All that is in stock is among them, and for each group something of which there is no end.
    """
    offers = fluid.offers
    demand = fluid.count @ fluid.request
    dims = len(demand)
    weights = np.zeros((len(_MIXES) + dims, dims))
    weights[: len(_MIXES), :2] = _MIXES
    weights[len(_MIXES) :] = np.eye(dims)
    weights /= np.maximum(demand, 1)
    stocked = offers.stock != NO_STOCK
    lasting = fluid.usable & ~stocked
    found = [np.flatnonzero(stocked)]
    for weight in weights:
        worth = np.maximum(offers.room, 0) @ weight
        dear = np.divide(offers.price, worth, out=np.full(len(worth), np.inf), where=worth > 0)
        found.append(np.where(lasting, dear, np.inf).argmin(axis=1))
    return np.unique(np.concatenate(found))


def _only(fluid: Fluid, chosen: Ints) -> Fluid:
    """Return the fluid with some offers only."""
    offers = fluid.offers
    some = Offers(
        template=offers.template[chosen],
        row=offers.row[chosen],
        room=offers.room[chosen],
        price=offers.price[chosen],
        stock=offers.stock[chosen],
        left=offers.left,
    )
    return replace(fluid, offers=some, usable=fluid.usable[:, chosen])


def _spread(fluid: Fluid, chosen: Ints, found: Prices) -> tuple[Prices, Floats]:
    """Return prices for the room of all offers, and what share of their worth they would cost.

    An offer that is not chosen takes over the prices of that chosen one by which it looks least
    like a bargain: if it looks like none, it is none.
    """
    offers = fluid.offers
    cost = offers.price.copy()
    stocked = offers.stock != NO_STOCK
    cost[stocked] += found.stock[offers.stock[stocked]]
    room = np.zeros_like(offers.room)
    share = np.zeros(len(cost))
    needed = found.worth > 0
    usable = fluid.usable[needed]
    for price in np.unique(found.room, axis=0):
        total = np.maximum(offers.room, 0) @ price
        paid = (fluid.request[needed] @ price) / found.worth[needed]
        least = np.where(usable, paid[:, None], np.inf).min(axis=0, initial=np.inf)
        used = np.isfinite(least)
        worth = cost * np.where(used, least, 0)
        own = np.divide(worth, total, out=np.zeros_like(cost), where=total > 0)
        own[~used] = np.inf
        better = own > share
        share[better], room[better] = own[better], price
    share[chosen] = np.inf
    room[chosen] = found.room
    bought = np.zeros(len(cost))
    bought[chosen] = found.bought
    return replace(found, room=room, bought=bought), share
