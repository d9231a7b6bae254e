"""Teams: nodes that one new node could replace, by what their pods request in sum.

Apart because, like the delete set, it hardly knows a rule: pods of which a node has one only are
not put together, nor such of several zones that others may tie to theirs. Two half-empty nodes may
be worth one that is cheaper than both, where neither alone has anything cheaper.
"""

from collections.abc import Sequence

import numpy as np

from services.solver.core.consolidating.choice import Wares
from services.solver.core.consolidating.leavers import Leaver
from services.solver.core.vectors import Ints, covering

NOTHING = 2**62
"""The price where nothing has room."""
_LARGEST = 16
"""Most nodes that one command replaces together: each is drained before the last is gone."""
_PATIENCE = 3
"""How many more nodes may join before the team saves more than it did: sizes double, and so two
nodes often cost as much together as alone where three are cheaper."""


def cheapest(loads: Ints, wares: Wares) -> Ints:
    """Return (n,): the price of the cheapest ware with room for each of these loads."""
    found = np.full(len(loads), NOTHING, np.int64)
    if len(wares.price):
        enough = covering(wares.room[None, :, :], loads[:, None, :])
        some = enough.any(axis=1)
        found[some] = wares.price[enough.argmax(axis=1)[some]]
    return found


def team(first: Leaver, others: Sequence[Leaver], wares: Wares) -> tuple[Leaver, ...]:
    """Return the nodes that are best replaced together with the first one, it included.

    Together they save more than if each were replaced alone, and more than with fewer of those that
    joined.
    """
    found = [first]
    best_gain, best_size = 0, 1
    load, spent, single, zone = first.load, first.price, first.single, first.zone
    left = list(others)
    loads = np.array([one.load for one in left]).reshape(len(left), len(load))
    prices = np.array([one.price for one in left], np.int64)
    alone = np.maximum(prices - cheapest(loads, wares), 0)
    apart = max(spent - int(cheapest(load[None], wares)[0]), 0)
    while left and len(found) < min(_LARGEST, best_size + _PATIENCE):
        together = cheapest(loads + load, wares)
        suits = [
            single.isdisjoint(one.single) and (not zone or one.zone in ("", zone)) for one in left
        ]
        possible = np.array(suits, np.bool_) & (together < NOTHING)
        gain = np.where(possible, spent + prices - together - apart - alone, -NOTHING)
        best = int(gain.argmax())
        if not possible[best]:
            break
        found.append(left.pop(best))
        single |= found[-1].single
        zone = zone or found[-1].zone
        load, spent = load + loads[best], spent + int(prices[best])
        apart += int(alone[best])
        if gain[best] > best_gain:
            best_gain, best_size = int(gain[best]), len(found)
        loads, prices, alone = (np.delete(one, best, axis=0) for one in (loads, prices, alone))
    return tuple(found[:best_size])
