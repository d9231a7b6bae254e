"""What new nodes count for besides their price, as users have it.

Apart from what is sold, which is the same whoever asks.
"""

from dataclasses import replace

import numpy as np

from libs.domain import labels as label_keys
from libs.domain.capacity import CapacityType
from libs.domain.nodepool import NodePool
from libs.domain.objective import Licence, Objective
from libs.domain.requirements import Requirements
from libs.domain.snapshot import ClusterSnapshot
from services.solver.core.offers.catalogue import CatalogueColumns, priced
from services.solver.core.offers.market import Market, Offers
from services.solver.core.vectors import Bools


def weighed(market: Market, snapshot: ClusterSnapshot, objective: Objective) -> Market:
    """Return the market in which everything is compared by what it counts for."""
    if not objective.weighs_nodes:
        return market
    pools = snapshot.nodepools
    return replace(
        market,
        by_pool={
            name: _weighed(offers, pools[name], objective)
            for name, offers in market.by_pool.items()
        },
    )


def without_effect(
    market: Market, snapshot: ClusterSnapshot, objective: Objective
) -> tuple[Licence, ...]:
    """Return the licences that no node needs which any pool could buy."""
    return tuple(
        licence
        for licence in objective.licences
        if not any(
            _needing(licence, offers.columns, snapshot.nodepools[name]).any()
            for name, offers in market.by_pool.items()
        )
    )


def _weighed(offers: Offers, pool: NodePool, objective: Objective) -> Offers:
    columns = offers.columns
    spot = np.array([one.capacity_type == CapacityType.SPOT for one in columns.offerings], np.bool_)
    price = columns.price + objective.node_nanos_per_hour
    price = price + objective.interruption_nanos_per_hour * spot
    for licence in objective.licences:
        price = price + licence.nanos_per_hour * _needing(licence, columns, pool)
    return replace(offers, columns=priced(columns, price))


def _needing(licence: Licence, columns: CatalogueColumns, pool: NodePool) -> Bools:
    """Return (n_offerings,): as which a pool's node needs a licence.

    A node has the labels of its offering and of its pool; one that a pool leaves open does not
    count, since nobody knows what it will be.
    """
    template = pool.template
    given = {**dict(template.labels), label_keys.NODEPOOL: pool.name}
    own = template.requirements.intersection(Requirements.from_labels(given))
    found = np.ones(len(columns.offerings), np.bool_)
    for one in licence.nodes:
        theirs = own.get(one.key)
        if theirs is not None and one.contains(theirs):
            continue
        found &= columns.mask(one, lenient=False)
        if theirs is not None and not one.has_intersection(theirs):
            found[:] = False
    return found
