"""What a claim that is yet to be created is charged with under the limits of its pool.

Apart because the next plan's claims are charged as replacements are.
"""

import numpy as np

from libs.domain.nodeclaim import NodeClaim
from libs.domain.resources import CPU, NOTHING, Resources
from services.solver.core.consolidating.remains import Remains
from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.vectors import Ints


def charge(name: str, known: ClaimClass, used: Ints, remains: Remains) -> NodeClaim:
    """Return a claim that has the most that a new node may take of what its pool limits.

    Args:
        name: by which it is known, its uid, too.
        known: what it may become.
        used: (n_resources,): what its pods request.
        remains: the cluster.
    """
    columns, pool = known.template.columns, known.template.pool
    rows = [columns.capacities[row] for row in np.flatnonzero(known.rows_for(used)).tolist()]
    names = (*known.template.limited, CPU)
    return NodeClaim(
        name=name,
        uid=name,
        nodepool=pool.name,
        node_class=pool.template.node_class,
        labels=(),
        requirements=known.requirements,
        requests=NOTHING,
        capacity=Resources({one: max(row.get(one) for row in rows) for one in names}),
        allocatable=NOTHING,
        created_at=remains.encoded.snapshot.observed_at,
    )
