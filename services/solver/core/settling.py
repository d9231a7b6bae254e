"""Settling: what claims of this plan may still become is given up where it keeps pods out.

Apart from packing because no pod is placed: claims lose types or domains that they could have had,
and others may then have a place. Choices that minValues ask for are kept.

Source: `docs/sources.md` D6.2-3. Difference on purpose: Karpenter leaves claims their choice and
the pods without a place.
"""

from collections.abc import Sequence

import numpy as np

from services.solver.core.bins import Bins
from services.solver.core.claim_class import ClaimClass
from services.solver.core.limits import PoolLimits
from services.solver.core.problem import Problem
from services.solver.core.vectors import Ints, covering


def tie(problem: Problem, bins: Bins, limits: PoolLimits) -> bool:
    """Leave claims of a pool no type larger than their cheapest; False if that frees nothing.

    A claim is charged with the largest type that it may become; tied to smaller ones it leaves more
    of the limits to others.
    """
    before = limits.left()
    for claim in limits.claims:
        known, used = bins.claims[claim], bins.used[claim]
        tied = _tied(problem, known, used)
        # As what it was it is charged anew, too: it has filled since.
        problem.algebra.become(claim, tied if problem.algebra.keeps_values(claim, tied) else known)
    return limits.left() != before


def pin(problem: Problem, bins: Bins, keys: Sequence[str]) -> bool:
    """Leave claims one domain of each key, that of their cheapest; False if all have but one."""
    changed = False
    for claim, known in enumerate(bins.claims):
        used = bins.used[claim]
        pinned = problem.classes.pinned(known, keys, used)
        if pinned in (None, known) or not problem.algebra.keeps_values(claim, pinned):
            continue
        problem.algebra.become(claim, pinned)
        changed = True
    return changed


def _tied(problem: Problem, known: ClaimClass, used: Ints) -> ClaimClass:
    template = known.template
    columns = template.columns
    offered = np.flatnonzero(known.narrowed_rows(known.rows_for(used)))
    cheapest = columns.row[offered[columns.rank[offered].argmin()]]
    small = covering(template.capacities[cheapest], template.capacities)
    return problem.classes.restrict(known, small[columns.row])
