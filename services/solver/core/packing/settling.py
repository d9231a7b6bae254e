"""Settling: what claims of this plan may still become is given up where it keeps pods out.

Apart from packing because no pod is placed: claims lose types or domains that they could have had,
and others may then have a place. Choices that minValues ask for are kept.

Source: `docs/sources.md` D6.2-3. Difference on purpose: Karpenter leaves claims their choice and
the pods without a place.
"""

from collections.abc import Sequence

import numpy as np

from services.solver.core.offers.claim_class import ClaimClass
from services.solver.core.offers.limits import PoolLimits
from services.solver.core.packing.problem import Problem
from services.solver.core.vectors import Ints, covering


def tie(problem: Problem, limits: PoolLimits) -> bool:
    """Leave claims of a pool no type larger than their cheapest; False if that frees nothing.

    A claim is charged with the largest type that it may become; tied to smaller ones it leaves more
    of the limits to others.
    """
    packing, algebra = problem.algebra.packing, problem.algebra
    before = limits.left()
    classes, used, pods = packing.classes().tolist(), packing.used(), packing.pods().tolist()
    for claim in limits.claims:
        if limits.tied.get(claim) == (classes[claim], pods[claim]):
            continue
        known = problem.classes.all[classes[claim]]
        tied = _tied(problem, known, used[claim])
        # As what it was it is charged anew, too: it has filled since.
        kept = tied if algebra.keeps_values(claim, tied) else known
        algebra.become(claim, kept)
        limits.tied[claim] = kept.id, pods[claim]
    return limits.left() != before


def pin(problem: Problem, keys: Sequence[str]) -> bool:
    """Leave claims one domain of each key, that of their cheapest; False if all have but one."""
    packing, changed = problem.algebra.packing, False
    used = packing.used()
    for claim, number in enumerate(packing.classes().tolist()):
        known = problem.classes.all[number]
        pinned = problem.classes.pinned(known, keys, used[claim])
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
