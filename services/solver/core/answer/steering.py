"""Leaves a provider no cheaper-looking choice than ours where prices are not what we choose by.

Apart because it answers for somebody else: a provider takes the cheapest of what a claim allows by
its own prices and knows nothing of overlays, nor of what else nodes count for. Price, capacity type
and zone were chosen together, so the claim has to allow no more than leads there; and no less,
since what it allows is what the provider can fall back on.
"""

from collections.abc import Callable
from itertools import chain, combinations

import numpy as np

from libs.domain import labels as label_keys
from services.solver.core.offers.market import Offers
from services.solver.core.vectors import Bools, Ints

_KEYS = (label_keys.CAPACITY_TYPE, label_keys.INSTANCE_TYPE, label_keys.ZONE)


def steered(offers: Offers, found: Ints, allowed: Callable[[str, Ints], bool]) -> Ints:
    """Return the offerings that a claim may allow, in order, some left out if need be.

    Args:
        offers: what is sold to the pool.
        found: positions of offerings that would do, cheapest first.
        allowed: whether the claim may be narrowed, by a label key, to these offerings.
    """
    if not offers.misleading or _agrees(offers, found):
        return found
    narrowed = found
    for keys in chain.from_iterable(combinations(_KEYS, size) for size in (1, 2, 3)):
        narrowed = found
        for key in keys:
            fewer = narrowed[_leading(offers, narrowed, key)]
            if allowed(key, fewer):
                narrowed = fewer
        if _agrees(offers, narrowed):
            break
    return narrowed


def _agrees(offers: Offers, found: Ints) -> bool:
    """Tell whether what looks cheapest to the provider is the cheapest."""
    listed = offers.listed_price[found]
    price = offers.columns.price[found]
    return bool((price[listed == listed.min()] == price[0]).all())


def _leading(offers: Offers, found: Ints, key: str) -> Bools:
    """Return (n,): the offerings that are as the cheapest one, or do not look cheaper than it."""
    columns = offers.columns
    mine = [columns.offerings[one] for one in found.tolist()]
    if key == label_keys.CAPACITY_TYPE:
        return np.array([one.capacity_type == mine[0].capacity_type for one in mine], np.bool_)
    if key == label_keys.ZONE:
        return np.array([one.zone == mine[0].zone for one in mine], np.bool_)
    listed, price = offers.listed_price[found], columns.price[found]
    kinds = columns.row_type[columns.row[found]]
    misleading = (listed <= listed[0]) & (price > price[0]) & (kinds != kinds[0])
    kept: Bools = ~np.isin(kinds, kinds[misleading])
    return kept
